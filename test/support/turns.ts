/** The processor time of each turn of the event loop: what else runs on the machine makes them no longer. */
export function cpuOfTurns(): { stop: () => number[] } {
  const times: number[] = [];
  let last = process.cpuUsage();
  let isOn = true;
  const turn = (): void => {
    const { user, system } = process.cpuUsage(last);
    times.push((user + system) / 1000);
    last = process.cpuUsage();
    if (isOn) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop: () => {
      isOn = false;
      return times;
    },
  };
}
