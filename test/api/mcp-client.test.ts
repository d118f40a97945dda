import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { exports } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { version } from '../../src/domain/version.ts'
import { get } from '../support/api.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

/** Connects the official client to the server, with a token or without one. */
async function connect(token: string | null) {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL('https://api.example/mcp'), {
    fetch: async (url, init) => exports.default.fetch(new Request(url, init)),
    requestInit: { headers: token === null ? {} : { authorization: `Bearer ${token}` } },
  })
  await client.connect(transport)
  return client
}

const readTexts = (result: Awaited<ReturnType<Client['callTool']>>): string[] =>
  (result['content'] as { text: string }[]).map(({ text }) => text)

it('the official client finds, reads and calls an operation', async () => {
  const { token } = world.people.OM
  const client = await connect(token)
  expect(client.getServerVersion()).toMatchObject({ name: 'event-commerce', version })
  expect(client.getInstructions()).toContain('search_operations')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['search_operations', 'describe_operation', 'call_operation'])
  const [lines = ''] = readTexts(
    await client.callTool({ name: 'search_operations', arguments: { query: 'pause a campaign' } }),
  )
  const id = /^- `(\w+)`/.exec(lines)?.[1]
  expect(id).toBe('pauseCampaign')
  const [page = ''] = readTexts(await client.callTool({ name: 'describe_operation', arguments: { id: 'getCampaign' } }))
  const example = JSON.parse(/## Call over MCP\n[^]*?```json\n([^]*?)\n```/.exec(page)?.[1] ?? '{}')
  expect(example).toMatchObject({ id: 'getCampaign', input: { path: { id: expect.stringMatching(/^cmp_/) } } })
  const { campaign } = world.a.editions[0]
  const call = { ...example, input: { path: { id: campaign } } }
  const [, data = ''] = readTexts(await client.callTool({ name: 'call_operation', arguments: call }))
  expect(JSON.parse(data)).toEqual((await get(`/v1/campaigns/${campaign}`, token)).body)
  await client.ping()
  await client.close()
})

it('the official client reads without a token, and gets the error of the API when it calls', async () => {
  const client = await connect(null)
  expect((await client.listTools()).tools).toHaveLength(3)
  const result = await client.callTool({ name: 'call_operation', arguments: { id: 'listOrders' } })
  expect(result['isError']).toBe(true)
  expect(readTexts(result)[1]).toContain('not_authenticated')
  await client.close()
})
