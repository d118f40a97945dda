import { describe, expect, it } from 'vitest'
import { latin } from '../support/file-bytes.ts'
import { seedStoredFile } from '../support/seeding/files.ts'
import { fetchFile, buildPath, decodeText } from '../support/served-files.ts'

const content = latin('0123456789')

/** These are the answers of an ordinary web server; test/slow/files.test.ts compares them with one. */
describe('a file of ten bytes', async () => {
  const created_at = Date.UTC(2026, 0, 15, 9, 0, 0, 123)
  const file = await seedStoredFile({ content, created_at })
  const imported = await seedStoredFile({ content, created_at, purpose: 'attachment', mime_type: 'text/csv' })
  const etag = `"${file.checksum_sha256}"`
  const same = 'Thu, 15 Jan 2026 09:00:00 GMT'
  const earlier = 'Thu, 15 Jan 2026 08:00:00 GMT'
  const later = 'Thu, 15 Jan 2026 10:00:00 GMT'

  it.each([
    ['nothing', {}, 200, null, '0123456789'],
    ['a range', { range: 'bytes=2-4' }, 206, 'bytes 2-4/10', '234'],
    ['a range to the end', { range: 'bytes=7-' }, 206, 'bytes 7-9/10', '789'],
    ['the last bytes', { range: 'bytes=-3' }, 206, 'bytes 7-9/10', '789'],
    ['more than there is', { range: 'bytes=8-99' }, 206, 'bytes 8-9/10', '89'],
    ['more last bytes than there are', { range: 'bytes=-99' }, 206, 'bytes 0-9/10', '0123456789'],
    ['all as a range', { range: 'bytes=0-' }, 206, 'bytes 0-9/10', '0123456789'],
    ['bytes behind the end', { range: 'bytes=10-' }, 416, 'bytes */10', null],
    ['no last bytes', { range: 'bytes=-0' }, 416, 'bytes */10', null],
    ['several ranges', { range: 'bytes=0-0,5-6' }, 200, null, '0123456789'],
    ['another unit', { range: 'lines=0-1' }, 200, null, '0123456789'],
    ['no range', { range: 'bytes=x' }, 200, null, '0123456789'],
    ['its tag', { 'if-none-match': etag }, 304, null, ''],
    ['its tag as a weak one', { 'if-none-match': `W/${etag}` }, 304, null, ''],
    ['any tag', { 'if-none-match': '*' }, 304, null, ''],
    ['another tag', { 'if-none-match': '"x"' }, 200, null, '0123456789'],
    ['another tag and a later date', { 'if-none-match': '"x"', 'if-modified-since': later }, 200, null, '0123456789'],
    ['its date', { 'if-modified-since': same }, 304, null, ''],
    ['an earlier date', { 'if-modified-since': earlier }, 200, null, '0123456789'],
    ['its tag and a range', { 'if-none-match': etag, range: 'bytes=0-1' }, 304, null, ''],
    ['If-Match with its tag', { 'if-match': etag }, 200, null, '0123456789'],
    ['If-Match with another tag', { 'if-match': '"x"' }, 412, null, null],
    ['If-Match with a weak tag', { 'if-match': `W/${etag}` }, 412, null, null],
    ['If-Unmodified-Since before it', { 'if-unmodified-since': earlier }, 412, null, null],
    ['If-Range with its tag', { 'if-range': etag, range: 'bytes=0-1' }, 206, 'bytes 0-1/10', '01'],
    ['If-Range with another tag', { 'if-range': '"x"', range: 'bytes=0-1' }, 200, null, '0123456789'],
    ['If-Range with its date', { 'if-range': same, range: 'bytes=0-1' }, 206, 'bytes 0-1/10', '01'],
    ['If-Range with another date', { 'if-range': earlier, range: 'bytes=0-1' }, 200, null, '0123456789'],
    ['If-Range with another tag, behind the end', { 'if-range': '"x"', range: 'bytes=99-' }, 200, null, '0123456789'],
  ] as const)('answers a request with %s', async (_, headers, status, ...[contentRange, body]) => {
    // The first answer comes from the store, and the second from the cache if the answer can be cached.
    for (const requestedFile of [file, file, imported]) {
      const response = await fetchFile(buildPath(requestedFile), { headers: { ...headers } })
      expect(response.status).toBe(status)
      expect(response.headers.get('content-range')).toBe(contentRange)
      if (body !== null) expect(decodeText(response.bytes)).toBe(body)
      else expect(response.headers.get('cache-control')).toBe('no-store')
      if (status === 200 || status === 206)
        expect(response.headers.get('content-length')).toBe(String(response.bytes.length))
      if (status < 400) {
        expect(response.headers.get('etag')).toBe(etag)
        expect(response.headers.get('last-modified')).toBe(same)
        expect(response.headers.get('cache-control')).toContain('immutable')
      }
      if (status === 304) expect(response.headers.get('content-type')).toBeNull()
    }
  })
})
