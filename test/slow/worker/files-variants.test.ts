import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { buildDerivedKey, buildDerivedPrefix } from '../../../src/domain/files/addresses.ts'
import { get } from '../../support/api.ts'
import { image, imageNames } from '../../support/images.ts'
import { seedStoredFile } from '../../support/seeding/files.ts'
import { write } from '../../support/seeding/rows.ts'
import { fakeImages, fetchFile, buildPath, decodeText } from '../../support/served-files.ts'

const listKeys = async (storage_key: string) =>
  (await env.FILES.list({ prefix: buildDerivedPrefix(storage_key) })).objects.map(({ key }) => key)

describe('a variant of an image', () => {
  it('is made at the first request, and only once', async () => {
    const file = await seedStoredFile()
    const fake = fakeImages()
    const ask = () => fetchFile(buildPath(file, 'thumbnail'), { bindings: fake })
    const { status, headers, bytes } = await ask()
    expect(status).toBe(200)
    expect(decodeText(bytes)).toBe('webp {"width":200,"height":200,"fit":"crop"}')
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/webp',
      'content-length': String(bytes.length),
      'content-disposition': `inline; filename="photo-thumbnail.webp"; filename*=UTF-8''photo-thumbnail.webp`,
      etag: `"${file.checksum_sha256}-thumbnail"`,
      'cache-control': 'public, max-age=31536000, s-maxage=60, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    expect(await listKeys(file.storage_key)).toEqual([buildDerivedKey(file.storage_key, 'thumbnail')])
    await caches.default.delete(`https://api.example${buildPath(file, 'thumbnail')}`)
    expect((await ask()).bytes).toEqual(bytes)
    expect(fake.inputs).toEqual([file.content])
  })

  it('has the dimensions of its name, is one still picture, and is never larger than the original', async () => {
    const file = await seedStoredFile()
    const fake = fakeImages()
    for (const name of ['thumbnail', 'optimized', 'large'] as const)
      await fetchFile(buildPath(file, name), { bindings: fake })
    expect(fake.asked.map(({ shape }) => shape)).toEqual([
      { width: 200, height: 200, fit: 'crop' },
      { width: 1200, fit: 'scale-down' },
      { width: 2400, fit: 'scale-down' },
    ])
    for (const { output } of fake.asked) expect(output).toMatchObject({ format: 'image/webp', anim: false })
    expect(await listKeys(file.storage_key)).toEqual(
      ['large', 'optimized', 'thumbnail'].map((name) => `derived/${file.storage_key}/${name}.webp`),
    )
  })

  it('is made once under 20 parallel requests', async () => {
    const file = await seedStoredFile()
    const fake = fakeImages(() => new Promise((resolve) => setTimeout(resolve, 100)))
    const ask = () => fetchFile(buildPath(file, 'large'), { bindings: fake })
    const variants = await Promise.all(Array.from({ length: 20 }, ask))
    expect(new Set(variants.map(({ status, bytes }) => `${status} ${decodeText(bytes)}`)).size).toBe(1)
    expect(variants[0]?.status).toBe(200)
    expect(fake.asked).toHaveLength(1)
    expect(await listKeys(file.storage_key)).toHaveLength(1)
  })

  it('is the same for every request when two requests make it at the same time', async () => {
    const file = await seedStoredFile()
    const key = buildDerivedKey(file.storage_key, 'large')
    const fake = fakeImages(async () => void (await env.FILES.put(key, 'theirs')))
    expect(decodeText((await fetchFile(buildPath(file, 'large'), { bindings: fake })).bytes)).toBe('theirs')
    expect(await (await env.FILES.get(key))?.text()).toBe('theirs')
  })

  it('is not stored when its file is deleted at the same time', async () => {
    const file = await seedStoredFile()
    const fake = fakeImages(() => write(sql`delete from files where id = ${file.id}`))
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await fetchFile(buildPath(file, 'large'), { bindings: fake })
    vi.restoreAllMocks()
    expect(await listKeys(file.storage_key)).toEqual([])
  })

  it('answers ranges and conditions of its own', async () => {
    const file = await seedStoredFile()
    const bindings = fakeImages()
    const ask = (headers: Record<string, string>) => fetchFile(buildPath(file, 'large'), { bindings, headers })
    const part = await ask({ range: 'bytes=0-3' })
    expect([part.status, decodeText(part.bytes), part.headers.get('content-range')]).toEqual([
      206,
      'webp',
      'bytes 0-3/38',
    ])
    expect((await ask({ 'if-none-match': `"${file.checksum_sha256}-large"` })).status).toBe(304)
    expect((await ask({ 'if-none-match': `"${file.checksum_sha256}"` })).status).toBe(200)
    expect((await ask({ range: 'bytes=99-' })).headers.get('content-range')).toBe('bytes */38')
    const head = await fetchFile(buildPath(file, 'large'), { bindings, method: 'HEAD' })
    expect([head.headers.get('content-length'), head.bytes.length]).toEqual(['38', 0])
  })

  it('is replaced by the original for a minute after a failure, which is logged, and is then tried again', async () => {
    const file = await seedStoredFile()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const lines = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const broken = fakeImages(() => Promise.reject(new Error('error 9412: no image')))
    const { status, headers, bytes } = await fetchFile(buildPath(file, 'large'), { bindings: broken })
    expect([...logged.mock.calls, ...lines.mock.calls].flat().join()).toContain('error 9412')
    vi.restoreAllMocks()
    expect(status).toBe(200)
    expect(bytes).toEqual(file.content)
    expect(headers.get('content-type')).toBe('image/png')
    expect(headers.get('etag')).toBe(`"${file.checksum_sha256}"`)
    expect(headers.get('cache-control')).toBe('public, max-age=60')
    expect(await listKeys(file.storage_key)).toEqual([])
    await caches.default.delete(`https://api.example${buildPath(file, 'large')}`)
    const later = await fetchFile(buildPath(file, 'large'), { bindings: fakeImages() })
    expect(decodeText(later.bytes)).toMatch(/^webp/)
  })

  it('is replaced by the original where no Images binding exists', async () => {
    const file = await seedStoredFile()
    const { headers, bytes } = await fetchFile(buildPath(file, 'thumbnail'), { bindings: { IMAGES: undefined } })
    expect(bytes).toEqual(file.content)
    expect(headers.get('etag')).toBe(`"${file.checksum_sha256}"`)
    expect(headers.get('cache-control')).toBe('public, max-age=60')
  })

  it('is described as possibly the original in the OpenAPI document', async () => {
    const { components } = (await get('/openapi.json')).body
    expect(components.schemas.Image.description).toMatch(/Without the Images binding.* the original/)
  })

  it('is shared by files with equal bytes', async () => {
    const file = await seedStoredFile()
    const same = await seedStoredFile({ organization: file.organization_id, content: file.content })
    const fake = fakeImages()
    for (const sharedFile of [file, same]) await fetchFile(buildPath(sharedFile, 'large'), { bindings: fake })
    expect(fake.asked).toHaveLength(1)
  })
})

async function makeImage(width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  const enlarged = env.IMAGES.input(new Blob([image('png')]).stream()).transform({ width, height, fit: 'cover' })
  const largeImage = await enlarged.output({ format: 'image/jpeg' })
  return new Uint8Array(await largeImage.response().arrayBuffer())
}

describe('the Images binding', () => {
  it.each([
    [3000, 2000, { thumbnail: [200, 200], optimized: [1200, 800], large: [2400, 1600] }],
    [1000, 500, { thumbnail: [200, 200], optimized: [1000, 500], large: [1000, 500] }],
    [150, 100, { thumbnail: [150, 100], optimized: [150, 100], large: [150, 100] }],
  ] as const)(
    'makes the variants of an image of %i × %i, and none larger than the original',
    async (width, height, sizes) => {
      const file = await seedStoredFile({ content: await makeImage(width, height), mime_type: 'image/jpeg' })
      for (const [name, expected] of Object.entries(sizes)) {
        const { bytes } = await fetchFile(buildPath(file, name as keyof typeof sizes))
        const info = await env.IMAGES.info(new Blob([bytes]).stream())
        expect(info).toMatchObject({ format: 'image/webp', width: expected[0], height: expected[1] })
      }
    },
  )

  it.each(imageNames)('makes a webp of a real %s, rotated as shown and without its metadata', async (name) => {
    const file = await seedStoredFile({
      content: image(name),
      mime_type: `image/${name.toLowerCase().replace(/^.*(jpeg|webp)$/, '$1')}`,
    })
    const { headers, bytes } = await fetchFile(buildPath(file, 'large'))
    expect(headers.get('content-type')).toBe('image/webp')
    const info = await env.IMAGES.info(new Blob([bytes]).stream())
    const [width, height] = name === 'turnedJpeg' ? [9, 16] : [16, 9]
    expect(info).toMatchObject({ format: 'image/webp', width, height })
    expect(decodeText(bytes)).not.toMatch(/Exif|EXIF/)
  })
})
