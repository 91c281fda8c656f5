import { pathOf, type RemoteServer } from './remote-server.js';

/**
 * Sets a security object of another server. CouchDB keeps any member; here `viewers` has a meaning and a form. One of another
 * form is left out, and the reason given.
 */
export async function putSecurity(
  server: RemoteServer,
  db: string,
  security: Record<string, unknown>,
): Promise<string[]> {
  const { viewers, ...others } = security;
  const isAsExpected = viewers === undefined || isGroup(viewers);
  await server.put(`${pathOf(db)}/_security`, isAsExpected ? security : others);
  return isAsExpected
    ? []
    : ['`viewers` of its security object, which has another form here, was not copied'];
}

/** Names and roles, or one of them, or nothing. */
function isGroup(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return ['names', 'roles'].every((list) => {
    const texts = (value as Record<string, unknown>)[list];
    return texts === undefined || (Array.isArray(texts) && texts.every((each) => typeof each === 'string'));
  });
}
