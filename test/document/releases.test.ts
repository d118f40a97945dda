import { describe, expect, it } from 'vitest'
import { readUnreleased, releaseChanges } from '../../scripts/support/release/changelog.ts'
import { describeRelease, findChangedMigrations } from '../../scripts/support/release/stored-releases.ts'
import { chooseVersion, compareVersions, isVersion, setVersions } from '../../scripts/support/release/versions.ts'
import { readMigrations } from '../../scripts/support/schema/read-tables.ts'

const migrations = await readMigrations()

describe('a migration of a release', () => {
  const [first, second] = migrations.slice(0, 2)
  const release = describeRelease('1.2.0', migrations)

  it.each([
    ['was changed', migrations.map((one) => (one === first ? { ...one, text: `${one.text}\n-- Later.` } : one))],
    ['was removed', migrations.filter((one) => one !== first)],
    ['was renamed', migrations.map((one) => (one === first ? { ...one, name: `0001_other.sql` } : one))],
  ])('is reported when it %s', (_, changed) => {
    expect(findChangedMigrations([release], changed)[0]).toMatch(
      /^migrations\/0001_organizations\.sql is part of release 1\.2\.0, .* a new file: migrations\/\d{4}_verb_noun\.sql$/,
    )
  })

  it('cannot get another one before it', () => {
    const early = { name: second!.name.replace('_', 'b_'), text: '' }
    expect(findChangedMigrations([release], [...migrations, early])).toEqual([
      expect.stringContaining(`migrations/${early.name} comes before migrations that are released already.`),
    ])
    const later = { name: '9000_add_notes.sql', text: '' }
    expect(findChangedMigrations([release], [...migrations, later])).toEqual([])
  })
})

describe('a version', () => {
  it('is the next patch, minor or major one, or a higher one', () => {
    expect(['patch', 'minor', 'major', '2.0.1'].map((request) => chooseVersion('1.9.4', request))).toEqual([
      '1.9.5',
      '1.10.0',
      '2.0.0',
      '2.0.1',
    ])
    expect(compareVersions('1.10.0', '1.9.9')).toBeGreaterThan(0)
    expect(compareVersions('1.9.9', '1.10.0')).toBeLessThan(0)
    expect(compareVersions('1.9.9', '1.9.9')).toBe(0)
  })

  it.each(['', 'v1.0.0', '1.0', '1.0.0.0', '01.0.0', '1.0.0-rc.1', 'latest', '1.0.0\n', '--help'])(
    'is never %j',
    (text) => {
      expect(isVersion(text)).toBe(false)
      expect(chooseVersion('1.0.0', text)).toBeNull()
    },
  )

  it('is set in all packages, where they need each other, and in the lock file', () => {
    const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`
    const files = new Map([
      ['package.json', json({ name: 'all', version: '1.0.0', dependencies: { one: '1.0.0', hono: '1.0.0' } })],
      ['packages/one/package.json', json({ name: 'one', version: '1.0.0' })],
      [
        'package-lock.json',
        json({
          name: 'all',
          version: '1.0.0',
          packages: {
            '': { name: 'all', version: '1.0.0', dependencies: { one: '1.0.0', hono: '1.0.0' } },
            'node_modules/hono': { version: '1.0.0' },
            'packages/one': { name: 'one', version: '1.0.0' },
            'packages/one/node_modules/x': { version: '1.0.0' },
          },
        }),
      ],
    ])
    const changed = new Map([...setVersions(files, '1.1.0')].map(([path, text]) => [path, JSON.parse(text) as object]))
    expect(changed.get('package.json')).toMatchObject({
      version: '1.1.0',
      dependencies: { one: '1.1.0', hono: '1.0.0' },
    })
    expect(changed.get('packages/one/package.json')).toMatchObject({ version: '1.1.0' })
    expect(changed.get('package-lock.json')).toMatchObject({
      version: '1.1.0',
      packages: {
        '': { version: '1.1.0', dependencies: { one: '1.1.0', hono: '1.0.0' } },
        'node_modules/hono': { version: '1.0.0' },
        'packages/one': { version: '1.1.0' },
        'packages/one/node_modules/x': { version: '1.0.0' },
      },
    })
  })
})

describe('the changelog', () => {
  const changelog = '# Changes\n\n## Unreleased\n\n- One.\n\n## 0.1.0 (2026-01-02)\n\n- Zero.\n'

  it('moves what is unreleased under the version and its day', () => {
    expect(releaseChanges(changelog, '0.2.0', '2026-02-03')).toBe(
      '# Changes\n\n## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n- One.\n\n## 0.1.0 (2026-01-02)\n\n- Zero.\n',
    )
  })

  it('is empty once it was released, and without its heading there is none', () => {
    expect(readUnreleased(changelog)).toBe('- One.')
    expect(readUnreleased(releaseChanges(changelog, '0.2.0', '2026-02-03'))).toBe('')
    expect(readUnreleased('# Changes\n\n## 0.1.0\n')).toBeNull()
    expect(readUnreleased('# Changes\n\n## Unreleased\n\n- One.\n')).toBe('- One.')
  })
})
