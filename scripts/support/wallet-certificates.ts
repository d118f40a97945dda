import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface WalletCertificates {
  /** The certificate of the authority that replaces Apple's. */
  issuerCertificate: string
  certificate: string
  privateKey: string
}

/**
 * Creates an authority and a certificate for a pass type with `openssl`, as PEM files in a folder. Passes are signed with
 * them as with Apple's certificate, but no phone accepts these passes.
 */
export async function makeWalletCertificates(folder: string, passTypeId: string): Promise<WalletCertificates> {
  const openssl = (command: string) => run('openssl', command.split(' '), { cwd: folder })
  const newKey = 'req -newkey rsa:2048 -nodes'
  await openssl(`${newKey} -x509 -days 365 -subj /CN=authority/O=Test -keyout authority.key -out authority.pem`)
  await openssl(`${newKey} -subj /CN=${passTypeId}/O=Test -keyout pass.key -out pass.csr`)
  await writeFile(join(folder, 'pass.cnf'), 'keyUsage=digitalSignature\nextendedKeyUsage=emailProtection\n')
  const authority = '-CA authority.pem -CAkey authority.key -CAcreateserial'
  await openssl(`x509 -req -in pass.csr ${authority} -days 365 -extfile pass.cnf -out pass.pem`)
  const text = (name: string) => readFile(join(folder, name), 'utf8')
  return {
    issuerCertificate: await text('authority.pem'),
    certificate: await text('pass.pem'),
    privateKey: await text('pass.key'),
  }
}
