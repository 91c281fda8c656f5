import type { BenchContext } from '../context.js';

/** How much was done in how much time. */
export interface Sample {
  units: number;
  seconds: number;
}

/** Takes one sample each of the floor and of the server. */
export interface Samples {
  floor(): Promise<Sample>;
  server(): Promise<Sample>;
  /** The process that is the floor. */
  floorPid: number;
  /** The process that is compared with it, where it is not the server of all figures. */
  serverPid?: number;
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
  /** A rate that is good enough, whatever the floor. */
  enough?: number;
  /** So many milliseconds a unit may take longer than the floor, whatever the ratio. */
  slowerMsMax?: number;
  /** A floor under this says that the machine is too busy or too slow to tell anything. */
  floorLeast: number;
  /** Whether other servers with the same interface can be asked the same. */
  isComparable?: true;
  prepare(context: BenchContext): Promise<Samples>;
}
