import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../support/client.ts'
import { startServer } from '../support/server.ts'

/**
 * A server with the routes of the benches. Its state folder is a new one below `parent`, removed in the end, unless
 * `STATE_DIR` names one.
 */
export async function openBench(name: string, parent = tmpdir()) {
  const quit = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())
  const kept = process.env['STATE_DIR']
  const stateDir = kept ?? (await mkdtemp(join(parent, `bench-${name}-`)))
  const server = await startServer({
    port: 0,
    stateDir,
    env: { RATE_LIMIT_PER_MINUTE: '0' },
    program: 'scripts/bench/worker.ts',
    signal: quit.signal,
  })
  return {
    server,
    stateDir,
    client: createClient(server.url, server.rootToken),
    signal: quit.signal,
    close: async (): Promise<void> => {
      await server.stop()
      if (!kept) await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
