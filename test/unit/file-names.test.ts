import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanFileName, formatContentDisposition } from '../../src/domain/files/names.ts'
import { fileTypes } from '../../src/domain/files/types.ts'

const png = 'image/png'

describe('the name of a file', () => {
  it.each([
    ['photo.png', png, 'photo.png'],
    ['Photo.PNG', png, 'Photo.PNG'],
    ['photo.jpeg', 'image/jpeg', 'photo.jpeg'],
    ['photo', png, 'photo.png'],
    ['photo.exe', png, 'photo.exe.png'],
    ['list.html', 'text/csv', 'list.html.csv'],
    ['a.tar.gz', '', 'a.tar.gz'],
    ['../../etc/passwd', png, 'passwd.png'],
    [String.raw`C:\Users\Mette\photo.png`, png, 'photo.png'],
    ['folder/', png, 'folder.png'],
    ['/', png, 'file.png'],
    ['', png, 'file.png'],
    ['...', png, 'file.png'],
    ['.png', png, 'png.png'],
    ['.htaccess', 'text/csv', 'htaccess.csv'],
    ['photo.png. . ', png, 'photo.png'],
    ['pho\u0000to\r\nSet-Cookie: a=b.png', png, 'photoSet-Cookie_ a=b.png'],
    ['gpj.\u202Eexe.png', png, 'gpj.exe.png'],
    ['\u202Egnp.exe', png, 'gnp.exe.png'],
    ['zero\u200Bwidth\uFEFF.png', png, 'zerowidth.png'],
    ['CON', png, '_CON.png'],
    ['con.png', png, '_con.png'],
    ['aux.tar.png', png, '_aux.tar.png'],
    ['COM1.png', png, '_COM1.png'],
    ['console.png', png, 'console.png'],
    ['a<b>c:"d|e?f*.png', png, 'a_b_c__d_e_f_.png'],
    ['Sø\u0301ren  Æ.png', png, 'Sǿren Æ.png'],
    ['half \uD83D pair.png', png, 'half pair.png'],
    [`${'a'.repeat(300)}.jpeg`, 'image/jpeg', `${'a'.repeat(250)}.jpeg`],
    [`${'👩‍👩‍👧'.repeat(60)}.png`, png, `${'👩‍👩‍👧'.repeat(31)}.png`],
  ])('is made safe: %j as %s is %j', (name, type, expected) => {
    expect(cleanFileName(name, type)).toBe(expected)
  })

  it('does not change when it is clean, is at most 255 characters long, and ends as its type does', () => {
    const types = Object.keys(fileTypes) as (keyof typeof fileTypes)[]
    const hostile = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('/', '\\', '..', '.', ' ', '\u202E', 'con', 'aux.', '.png', '.csv', 'a'.repeat(200), '👩‍👩‍👧'),
      ),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(hostile, fc.constantFrom(...types), (parts, type) => {
        const clean = cleanFileName(parts.join(''), type)
        expect(cleanFileName(clean, type)).toBe(clean)
        expect(clean.length).toBeLessThanOrEqual(255)
        expect(clean.isWellFormed()).toBe(true)
        // oxlint-disable-next-line no-control-regex -- none of these may be left
        expect(clean).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069/\\<>:"|?*]|^[. ]/)
        expect(fileTypes[type].endings).toContain(clean.split('.').at(-1)?.toLowerCase())
      }),
      { numRuns: 2000 },
    )
  })
})

describe('Content-Disposition', () => {
  it.each([
    ['photo.png', `inline; filename="photo.png"; filename*=UTF-8''photo.png`],
    ['Søren Æ.png', `inline; filename="S_ren _.png"; filename*=UTF-8''S%C3%B8ren%20%C3%86.png`],
    ['Zoë.png', `inline; filename="Zoe.png"; filename*=UTF-8''Zo%C3%AB.png`],
    ['a"b\\c.png', `inline; filename="a_b_c.png"; filename*=UTF-8''a%22b%5Cc.png`],
    ['100%41.png', `inline; filename="100_41.png"; filename*=UTF-8''100%2541.png`],
    [`it's (1)*.png`, `inline; filename="it's (1)*.png"; filename*=UTF-8''it%27s%20%281%29%2A.png`],
    ['a\r\nSet-Cookie: b', `inline; filename="a__Set-Cookie: b"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b`],
  ])('names the file %j', (name, expected) => {
    expect(formatContentDisposition('inline', name)).toBe(expected)
  })

  it('is a valid header for any name, from which the name can be read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const value = formatContentDisposition('attachment', name)
        expect(new Headers({ 'content-disposition': value }).get('content-disposition')).toBe(value)
        const [, encoded = ''] =
          /^attachment; filename="[^"\\]*"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(value) ?? []
        expect(decodeURIComponent(encoded)).toBe(name.toWellFormed())
      }),
    )
  })
})
