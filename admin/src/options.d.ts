declare module 'virtual:configuration-options' {
  const options: Record<string, { values: string; initial: string; meaning: string }>;
  export default options;
}
