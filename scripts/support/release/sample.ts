import { glob, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { createClient } from '../client.ts'
import { readDemo } from '../demo-file.ts'
import { seed } from '../seed.ts'
import { startServer } from '../server.ts'

/** Returns the database with the demonstration data that this version makes, compressed. */
export async function makeDemoDatabase(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'release-'))
  try {
    const program = 'scripts/support/seed-worker.ts'
    const server = await startServer({ port: 0, stateDir: folder, env: {}, program, hasCron: false })
    try {
      await seed(createClient(server.url, server.rootToken), await readDemo(folder), async () => undefined)
    } finally {
      await server.stop()
    }
    const files = await Array.fromAsync(glob('v3/d1/*/*.sqlite', { cwd: folder }))
    const [file = ''] = files.filter((name) => !name.endsWith('metadata.sqlite'))
    const database = new DatabaseSync(join(folder, file))
    const copy = join(folder, 'copy.sqlite')
    // The copy has no free pages, and nothing that is still in the log alone.
    database.prepare('vacuum into ?').run(copy)
    database.close()
    return gzipSync(await readFile(copy), { level: 9 })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
