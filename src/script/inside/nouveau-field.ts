/** What functions of Nouveau's indexes call: takes note of a field as a row of `[name,value,type]` and the options. */
export function makeNouveauField(
  emit: (key: unknown, value: unknown) => void,
): (type: unknown, name: unknown, value: unknown, options: unknown) => void {
  const check = (what: string, expected: string, actual: unknown): void => {
    if (typeof actual !== expected)
      throw {
        name: 'TypeError',
        message: 'type of ' + what + ' must be a ' + expected + ' not ' + typeof actual,
      };
  };
  return (type, name, value, options) => {
    check('type', 'string', type);
    check('name', 'string', name);
    if ((name as string)[0] === '_')
      throw { name: 'ReservedName', message: 'name must not start with an underscore' };
    if (type === 'stored') {
      if (typeof value !== 'number' && typeof value !== 'string')
        throw { name: 'TypeError', message: 'type of value must be a string or number' };
    } else if (type === 'text' || type === 'string') check('value', 'string', value);
    else if (type === 'double') check('value', 'number', value);
    else throw { name: 'TypeError', message: (type as string) + ' not supported' };
    const isStored = typeof options === 'object' && options !== null && 'store' in options && options.store;
    emit([name, value, type], isStored === true ? { store: true } : null);
  };
}
