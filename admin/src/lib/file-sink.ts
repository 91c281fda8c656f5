interface Sink {
  write: (text: string) => Promise<void>;
  close: () => Promise<void>;
}

interface SavePicker {
  showSaveFilePicker?: (options: {
    suggestedName: string;
  }) => Promise<{ createWritable: () => Promise<Sink> }>;
}

/** A file to write into: on the disk at once where the browser can, otherwise gathered and downloaded at the end. */
export async function openSink(name: string): Promise<Sink> {
  const { showSaveFilePicker } = window as SavePicker;
  if (showSaveFilePicker && !navigator.webdriver) {
    return await (await showSaveFilePicker({ suggestedName: name })).createWritable();
  }
  const parts: Blob[] = [];
  return {
    write: (text) => {
      parts.push(new Blob([text]));
      return Promise.resolve();
    },
    close: () => {
      download(new Blob(parts, { type: 'application/x-ndjson' }), name);
      return Promise.resolve();
    },
  };
}

function download(blob: Blob, name: string): void {
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
}
