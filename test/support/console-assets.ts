import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, '.wrangler', 'test-assets')

/** Writes assets as the build of the console does, with the page of its sources, and returns their folder. */
export function writeConsoleAssets(): string {
  for (const name of ['console/assets', 'docs']) mkdirSync(join(folder, name), { recursive: true })
  cpSync(join(root, 'packages', 'console', 'index.html'), join(folder, 'index.html'))
  writeFileSync(join(folder, 'console', 'assets', 'main-0a1b2c3d.js'), 'export {}\n')
  writeFileSync(join(folder, 'docs', 'scalar.js'), 'void 0\n')
  return folder
}
