import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedCrowd } from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'

let id: string
beforeAll(async () => {
  id = await seedMessage(await seedCrowd(0), { type: 'campaign' })
})

const rich = (en: string) => [{ type: 'rich_text', data: { text: { en } } }]
const save = (blocks: object[]) => patch(`/v1/email-messages/${id}`, { blocks })
const readText = async () => (await get(`/v1/email-messages/${id}`)).body.blocks[0].data.text.en

describe('a link in a text', () => {
  it.each([
    [' https://shop.example/x ', 'https://shop.example/x'],
    ['tel:+45 20 12 34 56', 'tel:+4520123456'],
    ['tel:+45\u00A020\u202F12', 'tel:+452012'],
    ['https://shop.example/a b?c=d e', 'https://shop.example/a%20b?c=d%20e'],
    ['www.shop.example', 'https://www.shop.example'],
    ['WWW.shop.example/a b', 'https://WWW.shop.example/a%20b'],
    ['//shop.example/x', 'https://shop.example/x'],
    ["https://shop.example/?q='x'", 'https://shop.example/?q=&#39;x&#39;'],
    ['https://shop.example/a {{ customer.first_name }} b', 'https://shop.example/a%20{{ customer.first_name }}%20b'],
    ['//shop.example/{{ customer.first_name | default: "a b" }}', null],
    ['\n\thttps://shop.example/x\u00A0', 'https://shop.example/x'],
    ['HTTPS://Shop.example/Æ', 'HTTPS://Shop.example/Æ'],
    ['TEL:+45 20 12', 'TEL:+452012'],
    ['{{ links.unsubscribe }} ', '{{ links.unsubscribe }}'],
    ['mailto:a@shop.example?subject=Hi there', 'mailto:a@shop.example?subject=Hi%20there'],
  ])('keeps the address %j', async (address, stored) => {
    const quoted = address.includes('"') ? `'${address}'` : `"${address}"`
    const reply = await save(rich(`<p><a href=${quoted}>X</a></p>`))
    if (stored === null) {
      expect([reply.status, reply.body.errors[0].code]).toEqual([400, 'invalid_address'])
      return
    }
    expect([reply.status, await readText()]).toEqual([200, `<p><a href="${stored}">X</a></p>`])
    const again = await save(rich(await readText()))
    expect([again.status, await readText()]).toEqual([200, `<p><a href="${stored}">X</a></p>`])
    const { html, text } = (await post(`/v1/email-messages/${id}/preview`, {})).body
    const sentAddress = stored
      .replace('{{ customer.first_name }}', 'Astrid')
      .replace('{{ links.unsubscribe }}', 'https://example.com/unsubscribe')
    expect(html).toContain(`href="${sentAddress}"`)
    expect(text).toContain(sentAddress.replaceAll('&#39;', "'"))
  })

  it.each([
    ['ftp://shop.example', 'a'],
    ['javascript:alert(1)', 'a'],
    ['java&#10;script:alert(1)', 'a'],
    ['/tickets', 'a'],
    ['#top', 'a'],
    ['shop.example', 'a'],
    ['https://a b.example', 'a'],
    ['https://user:pass@shop.example/', 'a'],
    ['www.{{ customer.first_name }}', 'a'],
    ['{{ customer.first_name }}', 'a'],
    ['https://{{ customer.first_name }}.example/', 'a'],
    ['https://shop.example/a&#10;b', 'a'],
    ['\\\\shop.example', 'a'],
    ['//', 'a'],
    ['data:image/png;base64,AA', 'img'],
    ['photo.png', 'img'],
  ])('refuses the address %s, which it cannot keep, and names the block', async (address, tag) => {
    await save(rich('before'))
    const html = tag === 'a' ? `<a href="${address}">X</a>` : `<img src="${address}" alt="x" />`
    const columns = {
      type: 'columns',
      data: { columns: [{ blocks: rich(`<p>one</p>\n<p>${html}</p>`) }, { blocks: [] }] },
    }
    const reply = await save([...rich('first'), columns])
    expect(describeRefusal(reply)).toBe(
      '400 validation_error: invalid_address #/blocks/1/data/columns/0/blocks/0/data/text/en',
    )
    expect(await readText()).toBe('before')
    const footer = await save([{ type: 'footer', data: { text: { en: html } } }])
    expect([footer.status, footer.body.errors[0].pointer]).toEqual([400, '#/blocks/0/data/text/en'])
  })

  it('names the line and the column of the address', async () => {
    const { body } = await save(rich('<p>one</p>\n<p>two <a href="ftp://x.example">X</a></p>'))
    expect(body.errors).toMatchObject([{ line: 2, column: 17, detail: expect.stringContaining('ftp://x.example') }])
  })

  it('may be missing or empty, and stands in no tag that is removed', async () => {
    const html = '<a name="x">a</a><a href="">b</a><svg><a href="ftp://x.example">c</a></svg>'
    expect((await save(rich(html))).status).toBe(200)
    expect(await readText()).toBe('<a>a</a><a>b</a>')
  })
})

describe('the link of a button', () => {
  it('may hold an apostrophe', async () => {
    const url = "https://shop.example/?q='x'"
    const reply = await save([{ type: 'button', data: { text: { en: 'Go' }, url } }])
    expect([reply.status, reply.body.blocks[0].data.url]).toEqual([200, url])
    const { html, text } = (await post(`/v1/email-messages/${id}/preview`, {})).body
    expect(html).toContain('href="https://shop.example/?q=&#39;x&#39;"')
    expect(text).toContain(url)
  })
})
