import { buildConsole } from './support/console-build.ts'
import { isConsoleCurrent } from './support/console-files.ts'

// Tests have another value, with which the libraries are larger and slower.
process.env['NODE_ENV'] = 'production'

// The argument `--if-changed` builds only what is not built yet.
if (process.argv[2] !== '--if-changed' || !isConsoleCurrent()) await buildConsole()
