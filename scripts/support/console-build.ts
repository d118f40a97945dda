import { globSync } from 'node:fs'
import { cp, mkdtemp, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'
import { consolePage as page } from './console-files.ts'
import { consoleFolder } from './paths.ts'

/**
 * Builds the console beside the files that servers may be serving. The new page comes when its parts are there, and then
 * the old parts go.
 */
export async function buildConsole(): Promise<void> {
  const startedAt = new Date()
  const folder = await mkdtemp(join(consoleFolder, '.build-'))
  try {
    await build({ root: join(consoleFolder, '..'), logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } })
    await utimes(join(folder, 'index.html'), startedAt, startedAt)
    await cp(folder, consoleFolder, { recursive: true, filter: (path) => path !== join(folder, 'index.html') })
    await rename(join(folder, 'index.html'), page)
    const parts = new Set(globSync('console/assets/*', { cwd: folder }))
    for (const part of globSync('console/assets/*', { cwd: consoleFolder }))
      if (!parts.has(part)) await rm(join(consoleFolder, part), { force: true })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
