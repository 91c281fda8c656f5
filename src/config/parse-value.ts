import type { Option } from './options.js';

export type Value = number | boolean | string;

/** The value an option's text stands for, or undefined when it isn't one of the option's values. */
export function parseValue(option: Option, text: string): Value | undefined {
  switch (option.type) {
    case 'integer': {
      if (text === 'infinity') return option.infinity ? Infinity : undefined;
      if (!/^[+-]?\d{1,16}$/.test(text)) return undefined;
      const value = Number(text);
      return value >= option.min && value <= option.max ? value : undefined;
    }
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'choice':
      return option.choices.includes(text) ? text : undefined;
    case 'text':
      return text === '' || (option.pattern?.test(text) ?? true) ? text : undefined;
  }
}

/** Whether an option may be set to a text. */
export function isValue(option: Option, text: string): boolean {
  if (parseValue(option, text) === undefined) return false;
  return text === '' || option.type !== 'text' || (option.isUsable?.(text) ?? true);
}

/** How a default is written in a file. */
export function formatValue(value: Value): string {
  return value === Infinity ? 'infinity' : String(value);
}

/** What an option's value must be, in the words of a message. */
export function expectation(option: Option): string {
  switch (option.type) {
    case 'integer': {
      const top =
        option.max === Number.MAX_SAFE_INTEGER
          ? `of ${option.min} or more`
          : `from ${option.min} to ${option.max}`;
      return `a whole number ${top}${option.infinity ? ', or infinity' : ''}`;
    }
    case 'boolean':
      return 'true or false';
    case 'choice':
      return `one of ${option.choices.join(', ')}`;
    case 'text':
      return option.expected ?? 'text';
  }
}
