// npm run build: installs what is missing, then compiles everything to dist.
import { build, ensureInstalled } from './ensure-built.mjs';

ensureInstalled();
await build();
