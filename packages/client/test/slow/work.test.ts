import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePerson } from '../ecm.ts'
import { json, problem, startStub } from '../stub.ts'

type Answer = (response: ServerResponse) => void

const env = (url: string) => ({ env: { ECM_URL: url, ECM_TOKEN: 'ecm_env' } })

/** Answers by the beginning of the path, the last one of several from then on. */
const route = (routes: Record<string, Answer[]>): Answer => {
  const calls = new Map<string, number>()
  return (response) => {
    const { url = '' } = response.req
    const path = Object.keys(routes).find((one) => url.startsWith(one)) ?? ''
    const answers = routes[path] ?? [problem(404, 'not_found')]
    const call = calls.get(path) ?? 0
    calls.set(path, call + 1)
    answers[Math.min(call, answers.length - 1)]?.(response)
  }
}

describe('ecm campaign watch', () => {
  const campaign = (fields: object) =>
    json(200, {
      id: 'cmp_1',
      name: 'Early birds',
      is_paused: false,
      total_recipients: 10,
      sent_count: 0,
      failed_count: 0,
      skipped_count: 0,
      failed_by_reason: {},
      waiting_reason: null,
      next_attempt_at: null,
      scheduled_at: null,
      error_message: '',
      ...fields,
    })
  const watch = async (...states: object[]) => {
    const stats = [json(200, { delivered: 0 })]
    using stub = await startStub([
      route({ '/v1/campaigns/cmp_1/stats': stats, '/v1/campaigns/cmp_1': states.map(campaign) }),
    ])
    using person = makePerson()
    return await person.run(['campaign', 'watch', 'cmp_1', '--every', '0.01'], env(stub.url))
  }

  it('prints each change once, with what the campaign waits for', async () => {
    const waiting = { status: 'sending', waiting_reason: 'The provider does not answer.', sent_count: 3 }
    const { code, stdout } = await watch(waiting, waiting, waiting, { status: 'sent', sent_count: 10 })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(code).toBe(0)
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatchObject({ status: 'sending', pending_count: 7, waiting_reason: waiting.waiting_reason })
  })

  it.each([
    [{ status: 'failed', error_message: 'The provider refused the key.' }, 'campaign_failed'],
    [{ status: 'cancelled' }, 'campaign_cancelled'],
  ])('ends with 1 for %o', async (state, error) => {
    const { code, stderr } = await watch({ status: 'sending' }, state)
    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ code: error })
  })
})

describe('ecm deliveries', () => {
  it('needs no right to read the attempts', async () => {
    const delivery = {
      id: 'whd_1',
      endpoint_id: 'whk_1',
      status: 'exhausted',
      attempts: 10,
      created: '2026-06-01T10:00:00Z',
    }
    const list = (results: object[]) => json(200, { count: results.length, next: null, previous: null, results })
    const results = [
      { ...delivery, response_status_code: null },
      { ...delivery, id: 'whd_2', response_status_code: 503 },
    ]
    using stub = await startStub([
      route({
        '/v1/webhooks/deliveries': [list(results), list([])],
        '/v1/webhooks/whk_1/deliveries/': [problem(403, 'permission_denied')],
      }),
    ])
    using person = makePerson()
    const { code, stdout, stderr } = await person.run(
      ['deliveries', '--failed', '--organization', 'org_1'],
      env(stub.url),
    )
    expect(code, stderr).toBe(0)
    expect((JSON.parse(stdout) as { reason: string }[]).map(({ reason }) => reason).toSorted()).toEqual([
      'no answer',
      'the endpoint answered 503',
    ])
  })
})

describe('ecm import', () => {
  it('calls nothing when it cannot go on', async () => {
    using stub = await startStub([problem(500, 'internal_error')])
    using person = makePerson()
    writeFileSync(join(person.folder, 'orders.csv'), 'Order\nA-1\n')
    const runs = [
      ['import', 'orders.csv', '--yes'],
      ['import', 'orders.csv', '--edition', 'edt_1'],
      ['import', 'missing.csv', '--edition', 'edt_1', '--yes'],
      ['import', '.', '--edition', 'edt_1', '--yes'],
      ['export', 'orders', '-o', 'orders.csv'],
      ['export', 'segment'],
      ['export', 'orders', '--edition', 'edt_1', '--filter', 'statuss=completed'],
      ['export', 'customer', 'usr_1', '--format', 'csv'],
      ['recover', 'whk_1'],
    ]
    const results = await Promise.all(runs.map((words) => person.run(words, env(stub.url))))
    for (const [index, { code, stdout, stderr }] of results.entries())
      expect({ code, stdout }, `${runs[index]?.join(' ')}: ${stderr}`).toEqual({ code: 2, stdout: '' })
    expect(stub.received).toEqual([])
  })
})

describe('ecm export', () => {
  const csv = { 'content-type': 'text/csv' }
  const rows = (...ids: string[]) => `id,name\r\n${ids.map((id) => `${id},"a\r\n""b"""\r\n`).join('')}`
  const whole =
    (text: string): Answer =>
    (response) =>
      response.writeHead(200, csv).end(text)
  const broken =
    (text: string): Answer =>
    (response) => {
      response.writeHead(200, csv).write(text, () => response.socket?.end())
    }

  it('of a segment begins again after a lost connection, and its file has its name once it is complete', async () => {
    using stub = await startStub([broken(`${rows('usr_1')}usr_2,"`), whole(rows('usr_1', 'usr_2'))])
    using person = makePerson()
    writeFileSync(join(person.folder, 'members.csv'), 'of yesterday')
    const { code, stderr } = await person.run(['export', 'segment', 'seg_1', '-o', 'members.csv'], env(stub.url))
    expect(code, stderr).toBe(0)
    expect(readFileSync(join(person.folder, 'members.csv'), 'utf8')).toBe(rows('usr_1', 'usr_2'))
    expect(stub.received.map(({ url }) => url)).toEqual(['/v1/segments/seg_1/export', '/v1/segments/seg_1/export'])
  })

  it('goes on behind the last complete row on stdout', async () => {
    using stub = await startStub([broken(`${rows('ord_1')}ord_2,"`), whole(rows('ord_2', 'ord_3'))])
    using person = makePerson()
    const words = ['export', 'orders', '--edition', 'edt_1']
    const { code, stdout } = await person.run(words, env(stub.url))
    expect({ code, stdout }).toEqual({ code: 0, stdout: rows('ord_1', 'ord_2', 'ord_3') })
    expect(stub.received[1]?.url).toContain('after=ord_1')
  })

  it('leaves what was there when the API refuses to go on', async () => {
    using stub = await startStub([broken(rows('ord_1')), problem(403, 'permission_denied')])
    using person = makePerson()
    writeFileSync(join(person.folder, 'orders.csv'), 'of yesterday')
    const words = ['export', 'orders', '--edition', 'edt_1', '-o', 'orders.csv']
    const { code, stderr } = await person.run(words, env(stub.url))
    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ code: 'permission_denied' })
    expect(readFileSync(join(person.folder, 'orders.csv'), 'utf8')).toBe('of yesterday')
    expect(existsSync(join(person.folder, 'orders.csv.part'))).toBe(true)
  })

  it('begins again when the row behind which it goes on was deleted', async () => {
    const deleted: Answer = json(
      400,
      {
        type: 'about:blank',
        title: 'Refused',
        status: 400,
        code: 'validation_error',
        detail: 'The request is not valid.',
        errors: [{ code: 'does_not_exist', detail: 'There is no such row.', attr: 'after', pointer: null }],
      },
      { 'content-type': 'application/problem+json' },
    )
    using stub = await startStub([broken(rows('ord_1')), deleted, whole(rows('ord_2'))])
    using person = makePerson()
    const { code } = await person.run(['export', 'orders', '--edition', 'edt_1', '-o', 'o.csv'], env(stub.url))
    expect(code).toBe(0)
    expect(readFileSync(join(person.folder, 'o.csv'), 'utf8')).toBe(rows('ord_2'))
  })
})
