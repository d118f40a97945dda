import { join } from 'node:path'

/** The folder of package.json. With it scripts work in any current folder. */
export const root = join(import.meta.dirname, '..', '..')

export const wranglerProgram = join(root, 'node_modules', 'wrangler', 'bin', 'wrangler.js')

/** The built console, which the Worker serves. */
export const consoleFolder = join(root, 'packages', 'console', 'dist')

/** Builds the console, in a process of its own. */
export const consoleProgram = join(root, 'scripts', 'console.ts')
