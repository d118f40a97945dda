import * as asn1 from 'asn1js'
import { toBase64 } from '../../src/domain/text/encoding.ts'

const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

const sequence = (...value: asn1.BaseBlock[]) => new asn1.Sequence({ value })
const oid = (value: string) => new asn1.ObjectIdentifier({ value })
const signatureAlgorithm = () => sequence(oid('1.2.840.113549.1.1.11'), new asn1.Null())

const buildName = (text: string) =>
  sequence(new asn1.Set({ value: [sequence(oid('2.5.4.3'), new asn1.Utf8String({ value: text }))] }))

const time = (value: string) => new asn1.UTCTime({ valueDate: new Date(value) })

const pem = (label: string, bytes: ArrayBuffer): string =>
  `-----BEGIN ${label}-----\n${toBase64(new Uint8Array(bytes)).replaceAll(/(.{64})/g, '$1\n')}\n-----END ${label}-----\n`

export interface TestCertificate {
  certificate: string
  privateKey: string
  publicKey: CryptoKey
}

/** Makes a self-signed certificate with its key, as PEM. */
export async function testCertificate(name: string): Promise<TestCertificate> {
  const keys = (await crypto.subtle.generateKey(
    { ...algorithm, modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
    true,
    ['sign', 'verify'],
  )) as CryptoKeyPair
  const spki = (await crypto.subtle.exportKey('spki', keys.publicKey)) as ArrayBuffer
  const body = sequence(
    new asn1.Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [new asn1.Integer({ value: 2 })] }),
    new asn1.Integer({ value: 4711 }),
    signatureAlgorithm(),
    buildName(name),
    sequence(time('2026-01-01T00:00:00Z'), time('2036-01-01T00:00:00Z')),
    buildName(name),
    asn1.fromBER(spki).result,
  )
  const signature = await crypto.subtle.sign(algorithm, keys.privateKey, body.toBER())
  const certificate = sequence(body, signatureAlgorithm(), new asn1.BitString({ valueHex: signature }))
  return {
    certificate: pem('CERTIFICATE', certificate.toBER()),
    privateKey: pem('PRIVATE KEY', (await crypto.subtle.exportKey('pkcs8', keys.privateKey)) as ArrayBuffer),
    publicKey: keys.publicKey,
  }
}
