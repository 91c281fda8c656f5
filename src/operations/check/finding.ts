/** Something that a check found to be wrong. */
export interface CheckFinding {
  /** Where: a file, or a database with its document. */
  about: string;
  message: string;
  /** Whether what is stored tells how it should be: then it was put right, or `--repair` would do so. */
  repairable: boolean;
  repaired: boolean;
}

/** Takes findings, with what puts them right, if anything does. */
export interface Findings {
  add(about: string, message: string): void;
  addRepairable(about: string, message: string): void;
}

export interface CheckSummary {
  databases: number;
  documents: number;
  attachments: number;
}
