import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, '.wrangler', 'test-assets')

/** Writes the page of the console as its build does, and returns the folder. */
export function writeConsoleAssets(): string {
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'packages', 'console', 'index.html'), join(folder, 'index.html'))
  return folder
}
