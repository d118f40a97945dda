import { describe, expect, it } from 'vitest'
import { findDestinationFault, describeDestinationFault } from '../../src/domain/webhooks/webhook-destination.ts'

const strict = { allowInsecure: false, ownHosts: ['api.tickets.dk'] }
const lenient = { ...strict, allowInsecure: true }

describe('a webhook destination', () => {
  it.each([
    'https://hooks.example.com/events',
    'https://hooks.example.com',
    'https://hooks.example.com:443/a?b=c#d',
    'https://HOOKS.Example.COM/events',
    'https://hooks.example.com./events',
    'https://bücher.example.com/ü',
    'https://xn--bcher-kva.example.com',
    'https://10.example.com',
    'https://localhost.example.com',
    'https://example.com/?to=http://127.0.0.1',
    'https://notapi.tickets.dk',
    'https://internal.example.com',
  ])('may be %s', (url) => {
    expect(findDestinationFault(url, strict)).toBeNull()
  })

  it.each(
    Object.entries({
      address: [
        'https://127.0.0.1/',
        'https://93.184.216.34/',
        'https://2130706433/',
        'https://0x7f000001/',
        'https://0x7f.1/',
        'https://127.1/',
        'https://0177.0.0.1/',
        'https://017700000001/',
        'https://0/',
        'https://①②⑦.⓪.⓪.①/',
        'https://127。0。0。1/',
        'https://%31%32%37.0.0.1/',
        'https://127.0.0.1./',
        'https://169.254.169.254/latest/meta-data',
        'https://10.0.0.1/',
        'https://[::1]/',
        'https://[::ffff:127.0.0.1]/',
        'https://[::ffff:7f00:1]/',
        'https://[64:ff9b::7f00:1]/',
        'https://[2606:4700::1111]/',
        'https://127.0.0.1../',
      ],
      private_name: [
        'https://localhost/',
        'https://localhost./',
        'https://localhost../',
        'https://LOCALHOST/',
        'https://ｌｏｃａｌｈｏｓｔ/',
        'https://a.localhost/',
        'https://printer.local/',
        'https://metadata.google.internal/',
        'https://router.home.arpa/',
        'https://nas.lan/',
        'https://abc.onion/',
        'https://a.invalid/',
        'https://a.test/',
        'https://169.254.169.254.nip.io/',
        'https://127-0-0-1.sslip.io/',
      ],
      bare_name: ['https://backend/', 'https://backend./'],
      own_host: ['https://api.tickets.dk/v1/webhooks', 'https://API.tickets.dk./'],
      credentials: [
        'https://user@hooks.example.com/',
        'https://user:secret@hooks.example.com/',
        'https://:secret@hooks.example.com/',
        'https://hooks.example.com@127.0.0.1/',
        'https://hooks.example.com%2f@127.0.0.1/',
      ],
      port: ['https://hooks.example.com:8443/', 'https://hooks.example.com:22/'],
      https: ['http://hooks.example.com/'],
      protocol: ['ftp://hooks.example.com/', 'ws://hooks.example.com/'],
    }).flatMap(([rule, urls]) => urls.map((url) => [rule, url] as const)),
  )('is refused by the rule of %s: %s', (rule, url) => {
    expect(findDestinationFault(url, strict)).toBe(rule)
  })

  it.each([
    '',
    'hooks.example.com',
    '//hooks.example.com/',
    'https://',
    'https://exa mple.com/',
    ' https://hooks.example.com/',
    'https://hooks.exa\nmple.com/',
    'https://hooks.exa\tmple.com/',
    'https://hooks.example.com\\@127.0.0.1:8443/',
    'https://1.2.3.4.5/',
    'https://999.1.1.1/',
    'https://hooks.example.com:99999/',
    'mailto:a@example.com',
    'javascript:alert(1)',
    'data:text/plain,x',
    'file:///etc/passwd',
  ])('is refused: %j', (url) => {
    expect(findDestinationFault(url, strict)).toBe('malformed')
  })

  it('may be loopback, http and any port and name in development, and no other private address', () => {
    for (const url of [
      'http://localhost:8787/hook',
      'http://127.0.0.1:9000/',
      'https://[::1]:9000/',
      'http://receiver:80/',
      'https://hooks.example.com/',
    ])
      expect([url, findDestinationFault(url, lenient)]).toEqual([url, null])
    for (const url of [
      'http://169.254.169.254/',
      'http://10.0.0.1/',
      'http://0/',
      'http://[::ffff:a9fe:a9fe]/',
      'http://user:secret@localhost/',
      'http://api.tickets.dk/',
      'ftp://localhost/',
    ])
      expect([url, findDestinationFault(url, lenient)]).not.toEqual([url, null])
  })

  it.each([
    ['http://localhost:8787/hook', 'https', true],
    ['https://localhost:8787/hook', 'localhost', true],
    ['https://hooks.example.com:8443/', '443', true],
    ['https://receiver/', 'no dot', true],
    ['https://127.0.0.1/', 'IP address', true],
    ['https://10.0.0.1/', 'IP address', false],
    ['https://a:b@hooks.example.com/', 'password', false],
    ['https://api.tickets.dk/', 'this service itself', false],
    ['ftp://hooks.example.com/', 'https', false],
  ])(
    'gets an answer with the rule that %s breaks, and in development with the variable that permits it',
    (url, word, isPermitted) => {
      const fault = findDestinationFault(url, strict)
      if (fault === null) throw new Error('This address is not refused.')
      const inDevelopment = describeDestinationFault(fault, url, { policy: strict, isDevelopment: true })
      const inProduction = describeDestinationFault(fault, url, { policy: strict, isDevelopment: false })
      expect(inProduction).toContain(word === 'localhost' ? 'private' : word)
      expect(inDevelopment).toBe(
        inProduction + (isPermitted ? ' In development ALLOW_INSECURE_WEBHOOKS=1 permits it.' : ''),
      )
    },
  )
})
