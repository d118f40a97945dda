import { mkdir } from 'node:fs/promises'
import { makeWalletCertificates } from './support/wallet-certificates.ts'

const [folder = '.wrangler/wallet', passTypeId = 'pass.example.test'] = process.argv.slice(2)

await mkdir(folder, { recursive: true })
const { certificate, privateKey, issuerCertificate } = await makeWalletCertificates(folder, passTypeId)

const oneLine = (pem: string) => pem.trim().replaceAll('\n', String.raw`\n`)
console.log(`# ${folder} has test certificates for ${passTypeId}. No phone takes in what they sign.`)
for (const [name, value] of Object.entries({
  WALLET_APPLE_PASS_TYPE_ID: passTypeId,
  WALLET_APPLE_TEAM_ID: 'TEST',
  WALLET_APPLE_CERTIFICATE: oneLine(certificate),
  WALLET_APPLE_PRIVATE_KEY: oneLine(privateKey),
  WALLET_APPLE_ISSUER_CERTIFICATE: oneLine(issuerCertificate),
}))
  console.log(`export ${name}='${value}'`)
