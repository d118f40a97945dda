import { buildConsole, isConsoleCurrent } from './support/console-build.ts'

// The argument `--if-changed` builds only what is not built yet.
if (process.argv[2] !== '--if-changed' || !isConsoleCurrent()) await buildConsole()
