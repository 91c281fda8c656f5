/** Something the doctor has to say. */
export interface Finding {
  /** A problem is wrong, unknown or dangerous, and makes the exit code 1; a note is good to know. */
  level: 'problem' | 'note';
  /** The option, file or folder concerned. */
  about: string;
  message: string;
  /** What to do. */
  advice: string;
}

export const problem = (about: string, message: string, advice: string): Finding => ({
  level: 'problem',
  about,
  message,
  advice,
});

export const note = (about: string, message: string, advice: string): Finding => ({
  level: 'note',
  about,
  message,
  advice,
});
