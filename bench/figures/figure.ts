import type { BenchContext } from '../context.js';

/** Takes one sample each of the floor and of the server, in units a second. */
export interface Samples {
  floor(): Promise<number>;
  server(): Promise<number>;
  close(): Promise<void>;
}

/** One line of the table: what the server does, against the least that any server would have to do. */
export interface Figure {
  name: string;
  title: string;
  unit: string;
  floorTitle: string;
  /** The least share of the floor that is good enough. */
  bar: number;
  /** A floor under this says that the machine is too busy or too slow to tell anything. */
  floorLeast: number;
  prepare(context: BenchContext): Promise<Samples>;
}
