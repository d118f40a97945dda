import { describe, expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import { fieldGuide } from '../../src/domain/error-guide.ts'
import { errorStatus } from '../../src/domain/errors.ts'
import { call, callWith, publicUrl, readLinkPath } from '../support/api.ts'

const read = (path: string) => call(path, { token: null })

describe('/llms.txt', () => {
  it('has a title, a summary, and a link to the page of every operation and every error', async () => {
    const { status, headers, text } = await read('/llms.txt')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(headers.get('cache-control')).toContain('public')
    expect(text).toMatch(/^# Event Commerce Management Service\n\n> /)
    expect(text).toContain(`${publicUrl}/mcp`)
    const links = [...text.matchAll(/^- \[(\w+)\]\(([^)]+)\): \S/gm)].map(([, name, link = '']) => [name, link])
    const pages = [
      ...operations.map(({ id }) => [id, `${publicUrl}/docs/operations/${id}.md`]),
      ...[...new Set([...Object.keys(errorStatus), ...Object.keys(fieldGuide)])].map((code) => [
        code,
        `${publicUrl}/docs/errors/${code}.md`,
      ]),
    ]
    expect(links.toSorted()).toEqual(pages.toSorted())
    const sections = text.split(/^## /m).slice(1)
    for (const section of sections) for (const line of section.split('\n').slice(2)) expect(line).toMatch(/^- \[|^$/)
  })

  it('names the host of the request where PUBLIC_URL is empty', async () => {
    expect((await callWith({ PUBLIC_URL: '' }, '/llms.txt')).text).toContain('https://api.example/docs/operations/')
  })

  it('is among the links of the start page', async () => {
    expect((await read('/')).body.llms).toBe(`${publicUrl}/llms.txt`)
  })
})

describe('/docs/operations/{id}.md', () => {
  it('opens for every operation, with all that the document says of it', async () => {
    const document = (await read('/openapi.json')).body
    for (const { id, method, path, summary } of operations) {
      const { status, headers, text } = await read(`/docs/operations/${id}.md`)
      expect([id, status, headers.get('content-type')]).toEqual([id, 200, 'text/markdown; charset=utf-8'])
      const { description, parameters = [] } = document.paths[path][method]
      for (const part of [`# ${id}\n`, summary, `\`${method.toUpperCase()} ${path}\``, description])
        expect(text).toContain(part)
      for (const { name } of parameters) if (name) expect(text).toContain(`\`${name}\``)
      expect(text).not.toMatch(/undefined|\[object/)
      for (const [, schema = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
        expect(text, `${id} explains ${schema}`).toContain(`### ${schema}\n`)
      for (const [, json = ''] of text.matchAll(/```json\n([^]*?)\n```/g)) expect(() => JSON.parse(json)).not.toThrow()
    }
  })

  it('links to the pages of the errors, which open', async () => {
    const { text } = await read('/docs/operations/cancelOrder.md')
    const links = [...text.matchAll(/\((https:[^)]+\/docs\/errors\/[^)]+)\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) expect((await read(readLinkPath(link))).status).toBe(200)
  })

  it('answers 404 for an unknown id, and suggests the nearest', async () => {
    const near = await read('/docs/operations/cancelOrders.md')
    expect([near.status, near.body.detail]).toEqual([404, expect.stringContaining('/docs/operations/cancelOrder.md')])
    for (const page of ['cancelOrder', '.md', '__proto__.md', `${'a'.repeat(5000)}.md`])
      expect((await read(`/docs/operations/${page}`)).status).toBe(404)
  })
})

describe('/docs/errors/{code}.md', () => {
  it('says cause, fix and example of every code', async () => {
    for (const code of Object.keys(errorStatus)) {
      const { status, headers, text } = await read(`/docs/errors/${code}.md`)
      expect([code, status, headers.get('content-type')]).toEqual([code, 200, 'text/markdown; charset=utf-8'])
      expect(text).toContain(`# ${code}\n`)
      expect(text).toContain(`"code": "${code}"`)
    }
    expect((await read('/docs/errors/max_length.md')).text).toContain('The code of an entry of `errors`.')
    expect((await read('/docs/errors/nothing.md')).status).toBe(404)
    expect((await read('/docs/errors/max_length')).headers.get('content-type')).toContain('text/html')
  })
})
