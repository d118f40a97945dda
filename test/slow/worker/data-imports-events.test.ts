import { createExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { app } from '../../../src/app.ts'
import { get, post, buildRequest } from '../../support/api.ts'
import { watchDatabase } from '../../support/bindings.ts'
import { givenReadyImport, start, work } from '../../support/imported-files.ts'
import { buildRows, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

const shop = await seedShop()

const csv = ['Order ID;E-mail;Product;Quantity;Unit price', 'E-1;ane@example.test;Day ticket;1;100,00', ''].join('\r\n')

interface ImportEvent {
  event: string
  status: string
  created_orders: number
}

const parseEvents = (text: string): ImportEvent[] =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [event = '', data = ''] = block.split('\n')
      const { status, created_orders } = JSON.parse(data.replace('data: ', ''))
      return { event: event.replace('event: ', ''), status, created_orders }
    })

const buildPath = (id: string) => `/v1/data-imports/${id}/events`

/** Reads events until one of them has the status. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, status: string): Promise<void> {
  const decoder = new TextDecoder()
  for (let text = ''; !text.includes(`"status":"${status}"`);) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`The events end before ${status}: ${text}`)
    text += decoder.decode(value, { stream: true })
  }
}

describe('streamImportEvents', () => {
  it('ends when the import is cancelled', async () => {
    const id = await seedStarted(shop, buildRows(3))
    const response = await exports.default.fetch(buildRequest(buildPath(id)))
    const cancelled = await post(`/v1/data-imports/${id}/cancel`, undefined)
    expect(cancelled.body).toMatchObject({ status: 'cancelling' })
    const [text] = await Promise.all([response.text(), work(id)])
    expect(parseEvents(text).at(-1)).toEqual({ event: 'end', status: 'cancelled', created_orders: 0 })
  })

  it('sends the final state to a client that connects after the end, also after an undo', async () => {
    const id = await givenReadyImport(shop, csv)
    expect(parseEvents((await get(buildPath(id))).text)).toEqual([{ event: 'end', status: 'ready', created_orders: 0 }])
    await start(id)
    await work(id)
    expect(parseEvents((await get(buildPath(id))).text)).toEqual([
      { event: 'end', status: 'completed', created_orders: 1 },
    ])
    expect((await post(`/v1/data-imports/${id}/undo`, undefined)).status).toBe(200)
    const [reply] = await Promise.all([get(buildPath(id)), work(id)])
    expect(parseEvents(reply.text).at(-1)).toMatchObject({ event: 'end', status: 'undone' })
  })

  it('stops reading once the client has disconnected', async () => {
    const id = await seedStarted(shop, buildRows(3))
    let looks = 0
    const bindings = watchDatabase((statement) => {
      if (/from "?data_imports"? where/.test(statement)) looks++
    })
    const response = await app.fetch(buildRequest(buildPath(id)), { ...env, ...bindings }, createExecutionContext())
    const reader = response.body!.getReader()
    await readUntil(reader, 'importing')
    await reader.cancel()
    const before = looks
    expect(before).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(looks - before).toBeLessThanOrEqual(1)
    expect(await work(id)).toMatchObject({ status: 'completed', created_orders: 3 })
  })
})

describe('an import that is undone', () => {
  it('can be imported again from the same file any number of times, and so can its corrected report', async () => {
    const tenant = await seedShop()
    const bad = `${csv}E-2;bo@example.test;=cmd|' /C calc'!A0;1;abc\r\n`
    for (let round = 0; round < 2; round++) {
      const id = await givenReadyImport(tenant, bad)
      expect((await start(id, { skip_invalid_rows: true })).status).toBe(200)
      expect(await work(id)).toMatchObject({ status: 'completed_with_errors', created_orders: 1, failed_orders: 1 })
      const report = (await get(`/v1/data-imports/${id}/error-report`)).text
      expect(report).toContain(`;bo@example.test;"'=cmd|' /C calc'!A0";1;abc`)
      const mended = await givenReadyImport(tenant, report.replace(';abc', ';50,00'))
      expect((await start(mended)).status).toBe(200)
      expect(await work(mended)).toMatchObject({ status: 'completed', created_orders: 1 })
      for (const importId of [id, mended]) {
        expect((await post(`/v1/data-imports/${importId}/undo`, undefined)).status).toBe(200)
        expect(await work(importId)).toMatchObject({ status: 'undone' })
      }
      expect((await get(`/v1/orders?edition_id=${tenant.edition_id}`)).body.count).toBe(0)
    }
  })
})
