import { unzipSync } from 'fflate'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWalletCertificates, type WalletCertificates } from '../../scripts/support/wallet-certificates.ts'
import { createLivePasses } from '../../src/gateways/passes/live.ts'

const run = promisify(execFile)

let folder: string
let certificates: WalletCertificates

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wallet-'))
  certificates = await makeWalletCertificates(folder, 'pass.example.test')
})
afterAll(() => rm(folder, { recursive: true }))

const content = {
  id: 'wps_1',
  serial_number: '6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e',
  state: 'valid' as const,
  language: 'en' as const,
  organization_name: 'Nordlys',
  edition_id: 'edt_1',
  edition_name: 'Summer festival',
  start_at: Date.UTC(2026, 5, 1),
  end_at: null,
  timezone: 'Europe/Copenhagen',
  product_name: 'Day ticket',
  variant_name: null,
  location_name: 'Harbour',
  holder_name: 'Ægir Holm',
  code: 'A-17',
  design: {
    background_color: '#102040',
    foreground_color: null,
    label_color: null,
    logo_text: null,
    description: null,
  },
}

async function packageFiles(): Promise<void> {
  const passes = createLivePasses({
    apple: { ...certificates, passTypeId: 'pass.example.test', teamId: 'TEST', webServiceUrl: 'https://example.test' },
    google: { issuerId: '1', callbackUrl: '', serviceAccount: '{}', apiBase: '' },
    push: undefined,
    now: Date.now,
  })
  const bytes = await passes.buildApplePackage({ content, token: 't'.repeat(32) })
  await writeFile(join(folder, 'pass.pkpass'), bytes)
  for (const [name, file] of Object.entries(unzipSync(bytes))) await writeFile(join(folder, name), file)
}

const verify = (command: 'cms' | 'smime', file: string) => {
  const purpose = ['-purpose', 'any', '-CAfile', 'authority.pem']
  const input = ['-verify', '-binary', '-inform', 'DER', '-in', 'signature', '-content', file]
  return run('openssl', [command, ...input, ...purpose, '-out', 'verified'], { cwd: folder })
}

describe('the signature of a package', () => {
  beforeAll(packageFiles)

  it.each(['cms', 'smime'] as const)('is verified by openssl %s, with the chain to the authority', async (command) => {
    const { stderr } = await verify(command, 'manifest.json')
    expect(stderr).toMatch(/Verification successful/i)
  })

  it.each(['cms', 'smime'] as const)('does not verify another file: openssl %s', async (command) => {
    await expect(verify(command, 'pass.json')).rejects.toThrow(/digest|verif/i)
  })

  it('is valid DER: openssl reads it without a complaint', async () => {
    const { stdout } = await run('openssl', ['cms', '-cmsout', '-print', '-inform', 'DER', '-in', 'signature'], {
      cwd: folder,
    })
    expect(stdout).toContain('pass.example.test')
    expect(stdout).toContain('signingTime')
  })

  it('is in an archive that other programs open', async () => {
    const { stdout } = await run('python3', ['-m', 'zipfile', '-l', 'pass.pkpass'], { cwd: folder })
    for (const name of ['pass.json', 'manifest.json', 'signature', 'icon.png']) expect(stdout).toContain(name)
  })
})
