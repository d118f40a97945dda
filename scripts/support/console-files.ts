import { accessSync, constants, existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { consoleFolder, root } from './paths.ts'

/** The built page, which is the last file that a build writes. */
export const consolePage = join(consoleFolder, 'index.html')

/** Everything that the build reads. Folders are among the matches, because their time says when a file was removed. */
const sources = [
  'package-lock.json',
  'packages/console/{src,src/**,public/**,index.html,vite.config.ts,package.json}',
  'packages/client/{src,src/**}',
]

/** True if nothing has changed since the last build. */
export function isConsoleCurrent(): boolean {
  const builtAt = statSync(consolePage, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return globSync(sources, { cwd: root }).every((path) => statSync(join(root, path)).mtimeMs <= builtAt)
}

function canBuildConsole(): boolean {
  try {
    accessSync(consoleFolder, constants.W_OK)
    return existsSync(join(root, 'node_modules', 'vite'))
  } catch {
    return false
  }
}

/**
 * Returns whether a server has to build the console first. Where it cannot, because the folder belongs to another user or
 * only what serves is installed, it serves the console that is there.
 */
export function needsConsoleBuild(): boolean {
  if (isConsoleCurrent()) return false
  if (canBuildConsole()) return true
  if (existsSync(consolePage)) return false
  throw new Error(
    `The console is not built, and this user cannot build it in ${consoleFolder}. As the owner of that folder, run once: npm ci && npm run build:console`,
  )
}
