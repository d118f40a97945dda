import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../scripts/support/client.ts'
import { type Receiver, startReceiver } from '../../scripts/support/receiver.ts'
import { everyMinute, type Server, startServer } from '../../scripts/support/server.ts'
import { newId } from '../../src/domain/ids.ts'

const path = '/alarms'
const alertSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
let stateDir: string
let receiver: Receiver
let server: Server | undefined
beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'slow-alarms-'))
  receiver = await startReceiver()
  receiver.trust(path, alertSecret)
})
afterAll(async () => {
  await server?.stop()
  await receiver.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
})

const start = (hasCron: boolean) =>
  startServer({
    port: 0,
    stateDir,
    hasCron,
    env: {
      ALERT_WEBHOOK_URL: receiver.url(path),
      ALERT_WEBHOOK_SECRET: alertSecret,
      ALLOW_INSECURE_WEBHOOKS: '1',
    },
  })

function openDatabase(): DatabaseSync {
  const file = globSync(join(stateDir, 'v3', 'd1', 'miniflare-D1DatabaseObject', '*.sqlite')).find(
    (name) => !name.endsWith('metadata.sqlite'),
  )
  return new DatabaseSync(file ?? '')
}

interface Status {
  alarms: { kind: string; notified_at: string | null; notification_error: string | null }[]
}

it('a server that was stopped for a week starts, sweeps at once, and posts an alarm again that its receiver did not answer', async () => {
  server = await start(false)
  const read = async () => {
    const response = await fetch(`${server?.url}/healthz`)
    return (await response.json()) as { status: string; sweep: { last_run_at: string | null } }
  }
  expect(await read()).toMatchObject({ status: 'ok', sweep: { last_run_at: null, is_late: false } })
  await fetch(server.url + everyMinute)
  expect((await read()).sweep.last_run_at).not.toBeNull()
  await server.stop()

  const database = openDatabase()
  database.exec(`update sweep_runs set ended_at = ended_at - 7 * 86400000;
    insert into dead_messages (id, queue, body, created_at)
    values ('${newId('dead_message', Date.now(), Math.random)}', 'refunds', '{}', ${Date.now()})`)
  database.close()

  receiver.respondWith(path, (_, nth) => (nth === 1 ? 'hang' : 200))
  server = await start(true)
  await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe('ok')
  const client = createClient(server.url, server.rootToken)
  const loadAlarms = async () => (await client.get<Status>('/v1/system/status')).alarms
  const alarm = { kind: 'dead_messages', notified_at: null }
  expect(await loadAlarms()).toMatchObject([
    { ...alarm, notification_error: 'The receiver does not answer within 5 seconds.' },
  ])
  await fetch(server.url + everyMinute)
  expect(await loadAlarms()).toMatchObject([{ notified_at: expect.any(String) as string, notification_error: null }])
  const posts = receiver.posts(path)
  expect(posts.map(({ verified }) => verified)).toEqual([[alertSecret], [alertSecret]])
  expect(new Set(posts.map(({ id }) => id)).size).toBe(1)
})
