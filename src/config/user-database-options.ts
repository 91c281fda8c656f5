import { boolean, formed, integer } from './options.js';

/** Databases that users get of their own. */
export const userDatabaseOptions = {
  'couch_peruser/enable': boolean(
    false,
    'Give every user a database of their own, named by `database_prefix` and the hex form of the user’s name, which no other user may use.',
  ),
  'couch_peruser/database_prefix': formed(
    'userdb-',
    /^[a-z][a-z0-9_$()+/-]{0,99}$/,
    'the beginning of a name of a database',
    'What the names of these databases begin with.',
  ),
  'couch_peruser/delete_dbs': boolean(false, 'Delete the database of a user whose document is deleted.'),
  'couch_peruser/q': integer(1, 1, 256, 'Shards of these databases.'),
};
