import type { Security } from '../api/settings.js';

/** Says in words whom a security object lets in. */
export function whoCan(security: Security, defaultSecurity: string): { read: string; administer: string } {
  const { admins = {}, members = {} } = security;
  const isUnset = Object.keys(security).length === 0;
  const read =
    isEmpty(members) && !(isUnset && defaultSecurity === 'admin_only')
      ? 'Everybody who reaches the server, even without a login.'
      : sentence([admins, members]);
  return { read, administer: sentence([admins]) };
}

type Group = NonNullable<Security['members']>;

const isEmpty = ({ names = [], roles = [] }: Group): boolean => names.length === 0 && roles.length === 0;

function sentence(groups: Group[]): string {
  const names = [...new Set(groups.flatMap((group) => group.names ?? []))];
  const roles = [...new Set(groups.flatMap((group) => group.roles ?? []))].filter(
    (role) => role !== '_admin',
  );
  const parts = [
    'server admins',
    ...(names.length === 0 ? [] : [`${names.length === 1 ? 'the user' : 'the users'} ${list(names)}`]),
    ...(roles.length === 0 ? [] : [`everybody with the role ${list(roles, 'or')}`]),
  ];
  const text = parts.length === 1 ? 'only server admins' : list(parts);
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

function list(items: string[], word = 'and'): string {
  return items.length === 1 ? items[0]! : `${items.slice(0, -1).join(', ')} ${word} ${items.at(-1)!}`;
}
