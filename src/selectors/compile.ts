/** From the normal form to functions: one closure for each node, and nothing is made while documents are looked at. */
import { conditionTest, type Test } from './conditions.js';
import { fieldReader, lacksField } from './field-path.js';
import type { PartsOperator, SelectorNode } from './node.js';

export function compileNode(node: SelectorNode, raw = false): Test {
  switch (node.kind) {
    case 'everything':
      return () => true;
    case 'and':
      return every(node.args.map((arg) => compileNode(arg, raw)));
    case 'or':
      return some(node.args.map((arg) => compileNode(arg, raw)));
    case 'nor': {
      const any = node.args.map((arg) => compileNode(arg, raw));
      return (value) => !any.some((test) => test(value));
    }
    case 'not': {
      const test = compileNode(node.arg, raw);
      return (value) => !test(value);
    }
    case 'field':
      return fieldTest(node.field, node.condition, raw);
    case 'parts':
      return partsTest(node.operator, compileNode(node.arg, raw));
    case 'condition':
      return conditionTest(node.operator, node.value, raw);
    case 'text':
      return () => node.holds;
  }
}

function fieldTest(field: string, condition: SelectorNode, raw: boolean): Test {
  if (condition.kind === 'condition' && condition.operator === '$exists' && condition.value === false)
    return lacksField(field);
  const test = compileNode(condition, raw || field === '_id');
  if (field === '') return test;
  const read = fieldReader(field);
  return (value) => {
    const found = read(value);
    return found !== undefined && test(found);
  };
}

/** An empty `$and` is true, as is an empty `$or`. */
function every(tests: readonly Test[]): Test {
  if (tests.length === 2) {
    const [first, second] = tests as [Test, Test];
    return (value) => first(value) && second(value);
  }
  return (value) => {
    for (const test of tests) if (!test(value)) return false;
    return true;
  };
}

function some(tests: readonly Test[]): Test {
  if (tests.length === 0) return () => true;
  return (value) => {
    for (const test of tests) if (test(value)) return true;
    return false;
  };
}

function partsTest(operator: PartsOperator, test: Test): Test {
  switch (operator) {
    case '$elemMatch':
      return (value) => Array.isArray(value) && value.some(test);
    case '$allMatch':
      return (value) => Array.isArray(value) && value.length > 0 && value.every(test);
    case '$keyMapMatch':
      return (value) =>
        typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).some(test);
  }
}
