/** Text of others: an id, a name, a value. Marks that would turn or hide the text around them are written out. */
const specials =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const shownMax = 300;

export function visible(text: string): string {
  return text.replace(specials, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function Text({ value, max = shownMax }: { value: string; max?: number }) {
  const isCut = value.length > max;
  return (
    <bdi title={isCut ? `${value.length} characters` : undefined}>
      {visible(isCut ? value.slice(0, max) : value)}
      {isCut ? '…' : ''}
    </bdi>
  );
}
