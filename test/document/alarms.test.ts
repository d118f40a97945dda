import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../scripts/support/paths.ts'
import { alarmGuides, alarmKinds, describeAlertFault } from '../../src/domain/alarms.ts'

const page = readFileSync(join(root, 'docs', 'operating.md'), 'utf8')
const headings = [...page.matchAll(/^#{2,3} (.+)$/gm)].map(
  ([, heading = '']) =>
    `docs/operating.md#${heading
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-')}`,
)

it.each(alarmKinds)('the alarm %s has a heading of its own that names it', (kind) => {
  const { guide } = alarmGuides[kind]
  expect(headings).toContain(guide)
  const section = page.split(/^#{2,3} /m)[headings.indexOf(guide) + 1] ?? ''
  expect(section).toContain(`\`${kind}\``)
})

it('the example of a post has the action and the guide of its kind', () => {
  const [, text = ''] = /```json\n(\{\n {2}"type": "alarm\.began".*?)```/s.exec(page) ?? []
  const { data } = JSON.parse(text) as { data: { kind: 'provider_failing'; action: string; guide: string } }
  expect(data).toMatchObject(alarmGuides[data.kind])
})

it('the address for alarms is https, without a password, and may have a port or a private name', () => {
  const policy = { allowInsecure: false, ownHosts: ['events.example.com'] }
  for (const url of ['https://alerts.example.com:8443/a', 'https://alerts.internal/a', 'https://10.0.0.5/a'])
    expect(describeAlertFault(url, policy)).toBeNull()
  for (const url of [
    'http://alerts.example.com',
    'ftp://alerts.example.com',
    'https://a:b@alerts.example.com',
    'https://events.example.com/hook',
    'https://alerts.example.com/\\n',
    'alerts',
  ])
    expect(describeAlertFault(url, policy)).not.toBeNull()
  expect(describeAlertFault('http://127.0.0.1:9000', { ...policy, allowInsecure: true })).toBeNull()
})
