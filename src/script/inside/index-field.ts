/** What functions of search indexes call: takes note of a field as a row of `[name,value]` and the options. */
export function makeIndexField(
  emit: (key: unknown, value: unknown) => void,
): (name: unknown, value: unknown, options: unknown) => void {
  return (name, value, options) => {
    if (typeof name !== 'string')
      throw { name: 'TypeError', message: 'name must be a string not ' + typeof name };
    if (name[0] === '_') throw { name: 'ReservedName', message: 'name must not start with an underscore' };
    const type = typeof value;
    if (type !== 'string' && type !== 'number' && type !== 'boolean')
      throw { name: 'TypeError', message: 'value must be a string, a number or boolean not ' + type };
    if (options && typeof options !== 'object')
      throw { name: 'TypeError', message: 'options must be an object not ' + typeof options };
    emit([name, value], options || null);
  };
}
