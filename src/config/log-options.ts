import { facilities } from '../base/log-writer.js';
import { choice, formed, integer } from './options.js';

/** Options of the log. Part of `schema.ts`. */
export const logOptions = {
  'log/level': choice(
    'notice',
    [
      'debug',
      'info',
      'notice',
      'warning',
      'warn',
      'error',
      'err',
      'critical',
      'crit',
      'alert',
      'emergency',
      'emerg',
      'none',
    ],
    'The least severe messages that are logged. `info` adds one line for each request; nothing is more severe than `critical`.',
  ),
  'log/format': choice(
    'text',
    ['text', 'json'],
    'One readable line a message, or one JSON object. Read at start.',
  ),
  'log/writer': choice(
    'stderr',
    ['stderr', 'file', 'syslog', 'journald'],
    "Where messages go. `journald` is standard error with the priority in front of each line and without the time. Read at start. Can't be changed over the API.",
  ),
  'log/file': formed(
    '',
    /^[^\0]+$/,
    'a path',
    "File of the writer `file`; empty for `tuffet.log` in the data folder. Reopened within seconds after it is moved or removed. Can't be changed over the API.",
  ),
  'log/syslog_host': formed(
    '',
    /^[\w.:%-]+$/,
    'a host name or an IP address',
    'Host to which the writer `syslog` sends messages over UDP, in the form of RFC 5424; empty for standard error. Read at start.',
  ),
  'log/syslog_port': integer(514, 1, 65_535, 'Port of that host. Read at start.'),
  'log/syslog_appid': formed(
    'tuffet',
    /^[\x21-\x7e]{1,48}$/,
    'up to 48 visible ASCII characters without spaces',
    'Name of the program in messages to syslog. Read at start.',
  ),
  'log/syslog_facility': choice('local2', facilities, 'Facility of messages to syslog. Read at start.'),
};
