/** The views of the benchmarks: three in one design document. Always the same, but for a mark that makes them new. */
export interface BenchView {
  map: string;
  reduce: string;
}

export const groups = 100;

export function benchViews(mark: string): Record<string, BenchView> {
  const view = (body: string, reduce: string): BenchView => ({
    map: `function (doc) { ${body} } // ${mark}`,
    reduce,
  });
  return {
    number: view('emit(doc.number, null);', '_count'),
    group: view(`emit([doc.number % ${groups}, doc.name], doc.weight);`, '_sum'),
    email: view('if (doc.type === "visit") emit(doc.email, doc.weight);', '_stats'),
  };
}
