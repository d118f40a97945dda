import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { createClient } from '../../../scripts/support/client.ts'
import { type DemoState, seed } from '../../../scripts/support/seed.ts'
import { startServer } from '../../../scripts/support/server.ts'
import { findChromium } from '../browser.ts'
import { clientId, startIssuer } from './issuer.ts'

/** The server with the demonstration data and the browser that all browser tests share. */
export interface ConsoleService {
  url: string
  rootToken: string
  issuer: string
  /** Tokens by role: OA, OM, OV, EA, EM and EV. */
  tokens: Record<string, string>
  /** Ids of the demonstration data, such as `nordlys.current`. */
  ids: Record<string, string>
  /** The address at which playwright-core finds the browser. */
  browser: string
}

declare module 'vitest' {
  interface ProvidedContext {
    consoleService: ConsoleService
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const end of stops.toReversed()) await end()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'console-'))
    stops.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const issuer = await startIssuer()
    stops.push(issuer.stop)
    const server = await startServer({
      port: 0,
      stateDir: folder,
      program: 'test/support/console/worker.ts',
      buildsConsole: true,
      env: {
        OIDC_ISSUER: issuer.url,
        OIDC_AUDIENCE: 'api-of-the-tests',
        OIDC_CLIENT_ID: clientId,
        RATE_LIMIT_PER_MINUTE: '0',
        ALLOW_INSECURE_WEBHOOKS: '1',
      },
    })
    stops.push(server.stop)
    const demo: DemoState = { seeded_at: Date.now(), made: {}, tokens: [], is_complete: false }
    await seed(createClient(server.url, server.rootToken), demo, () => Promise.resolve())
    const browser = await chromium.launchServer({
      executablePath: findChromium(),
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    })
    stops.push(() => browser.close())
    project.provide('consoleService', {
      url: server.url,
      rootToken: server.rootToken,
      issuer: issuer.url,
      tokens: Object.fromEntries(demo.tokens.map(({ role, token }) => [role, token])),
      ids: demo.made,
      browser: browser.wsEndpoint(),
    })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
