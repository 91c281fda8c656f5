import { playFamilies } from './play-families.js';
import { readFamilies } from './scenario.js';

await playFamilies(readFamilies().filter(({ name }) => name.endsWith('-2')));
