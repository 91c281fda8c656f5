/**
 * A bounded text of a value. It is built piece by piece and never cut out of a longer text, because engines keep the
 * longer text in memory for as long as the piece is.
 */
export function preview(value: unknown, lengthMax: number, indent = ''): string {
  const writer = new Writer(lengthMax, indent);
  writer.write(value, 0);
  return writer.text;
}

class Writer {
  text = '';

  constructor(
    readonly lengthMax: number,
    readonly indent: string,
  ) {}

  get isFull(): boolean {
    return this.text.length >= this.lengthMax;
  }

  write(value: unknown, depth: number): void {
    if (typeof value === 'string') this.#string(value);
    else if (Array.isArray(value)) this.#list('[', ']', value.entries(), false, depth);
    else if (isPlainObject(value)) this.#list('{', '}', Object.entries(value), true, depth);
    else this.#add(JSON.stringify(value) ?? 'undefined');
  }

  #string(value: string): void {
    const room = Math.max(this.lengthMax - this.text.length, 0);
    if (value.length <= room) this.#add(JSON.stringify(value));
    else this.text += `${JSON.stringify(value.slice(0, room)).slice(0, -1)}…`;
  }

  #list(
    open: string,
    close: string,
    entries: Iterable<[unknown, unknown]>,
    named: boolean,
    depth: number,
  ): void {
    this.#add(open);
    let isFirst = true;
    for (const [name, value] of entries) {
      if (this.isFull) break;
      this.#add(`${isFirst ? '' : ','}${this.#lineBreak(depth + 1)}`);
      if (named) {
        this.#string(String(name));
        this.#add(this.indent === '' ? ':' : ': ');
      }
      this.write(value, depth + 1);
      isFirst = false;
    }
    this.#add(`${isFirst ? '' : this.#lineBreak(depth)}${close}`);
  }

  #lineBreak(depth: number): string {
    return this.indent === '' ? '' : `\n${this.indent.repeat(depth)}`;
  }

  #add(text: string): void {
    if (this.isFull) {
      if (!this.text.endsWith('…')) this.text += '…';
    } else this.text += text;
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !('rawJSON' in value && Object.isFrozen(value));
}
