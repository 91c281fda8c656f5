/** What functions of search indexes call: takes note of a field as a row of `[name,value]` and the options. */
export function makeIndexField(
  emit: (key: unknown, value: unknown) => void,
): (name: unknown, value: unknown, options: unknown) => void {
  const { isArray } = Array;
  const { isFinite } = Number;
  const { fround } = Math;
  const checkVector = (value: unknown, wanted: unknown): void => {
    if (!isArray(value) || value.length === 0 || value.length > 4096)
      throw { name: 'TypeError', message: 'a vector must be an array of 1 to 4096 numbers' };
    for (let i = 0; i < value.length; i++)
      if (typeof value[i] !== 'number' || !isFinite(fround(value[i] as number)))
        throw { name: 'TypeError', message: 'a vector must have numbers only, within the range of floats' };
    const dimensions = (wanted as { dimensions?: unknown }).dimensions;
    if (dimensions !== undefined && dimensions !== value.length)
      throw {
        name: 'TypeError',
        message: 'the vector has ' + value.length + ' dimensions, not ' + String(dimensions),
      };
  };
  return (name, value, options) => {
    if (typeof name !== 'string')
      throw { name: 'TypeError', message: 'name must be a string not ' + typeof name };
    if (name[0] === '_') throw { name: 'ReservedName', message: 'name must not start with an underscore' };
    const type = typeof value;
    if (options && typeof options === 'object' && (options as { vector?: unknown }).vector) {
      const { vector, store } = options as { vector: unknown; store?: unknown };
      checkVector(value, vector);
      emit([name, value], store ? { store } : null);
      return;
    }
    if (type !== 'string' && type !== 'number' && type !== 'boolean')
      throw { name: 'TypeError', message: 'value must be a string, a number or boolean not ' + type };
    if (options && typeof options !== 'object')
      throw { name: 'TypeError', message: 'options must be an object not ' + typeof options };
    emit([name, value], options || null);
  };
}
