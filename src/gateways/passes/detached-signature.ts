import * as asn1 from 'asn1js'
import { fromBase64 } from '../../domain/text/encoding.ts'

const oids = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  sha256: '2.16.840.1.101.3.4.2.1',
  rsaEncryption: '1.2.840.113549.1.1.1',
}

export interface Signer {
  key: CryptoKey
  /** The certificate of the key, DER. */
  certificate: Uint8Array<ArrayBuffer>
  /** The certificate that issued it, DER. */
  issuer: Uint8Array<ArrayBuffer>
}

/** Decodes the first block of a PEM text. */
export function readPem(pem: string, label: string): Uint8Array<ArrayBuffer> {
  const [, body = ''] = pem.split(`-----BEGIN ${label}-----`, 2)
  const end = body.indexOf(`-----END ${label}-----`)
  if (end <= 0) throw new Error(`The PEM text has no ${label}.`)
  // A variable on one line has `\n` instead of line breaks.
  return fromBase64(
    body
      .slice(0, end)
      .replaceAll(String.raw`\n`, '')
      .replaceAll(/\s+/g, ''),
  )
}

const signing = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

export const importSigningKey = (pem: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('pkcs8', readPem(pem, 'PRIVATE KEY'), signing, false, ['sign'])

const sequence = (...value: asn1.BaseBlock[]) => new asn1.Sequence({ value })
const oid = (value: string) => new asn1.ObjectIdentifier({ value })
const algorithm = (id: string) => sequence(oid(id), new asn1.Null())
const buildTaggedBlock = (number: number, ...value: asn1.BaseBlock[]) =>
  new asn1.Constructed({ idBlock: { tagClass: 3, tagNumber: number }, value })

/**
 * Reads the issuer and the serial number of a certificate, which identify the signer. Its version field is optional.
 */
function readIssuerAndSerial(certificate: Uint8Array<ArrayBuffer>): asn1.BaseBlock[] {
  const parsedCertificate = asn1.fromBER(certificate)
  const [body] = parsedCertificate.offset === -1 ? [] : (parsedCertificate.result as asn1.Sequence).valueBlock.value
  const fields = (body as asn1.Sequence | undefined)?.valueBlock.value ?? []
  const at = fields[0]?.idBlock.tagClass === 3 ? 1 : 0
  const [serial, , issuer] = fields.slice(at)
  if (!serial || !issuer) throw new Error('This is not a certificate.')
  return [issuer, serial]
}

const attribute = (id: string, value: asn1.BaseBlock) => sequence(oid(id), new asn1.Set({ value: [value] }))

/** DER sorts the members of a SET OF by their bytes. */
const sortBlocks = (blocks: asn1.BaseBlock[]): asn1.BaseBlock[] =>
  blocks
    .map((block) => ({ block, hex: new Uint8Array(block.toBER()).toHex() }))
    .toSorted((a, b) => (a.hex < b.hex ? -1 : 1))
    .map(({ block }) => block)

/**
 * Creates a detached PKCS#7 signature (CMS SignedData, RFC 5652) with the certificates of signer and issuer, in DER.
 */
export async function signDetached(
  content: Uint8Array<ArrayBuffer>,
  { key, certificate, issuer }: Signer,
  now: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const digest = await crypto.subtle.digest('SHA-256', content)
  const attributes = sortBlocks([
    attribute(oids.contentType, oid(oids.data)),
    attribute(oids.signingTime, new asn1.UTCTime({ valueDate: new Date(now) })),
    attribute(oids.messageDigest, new asn1.OctetString({ valueHex: digest })),
  ])
  // The signature covers the SET, which the message contains with another tag.
  const signature = await crypto.subtle.sign(signing, key, new asn1.Set({ value: attributes }).toBER())
  const signerInfo = sequence(
    new asn1.Integer({ value: 1 }),
    sequence(...readIssuerAndSerial(certificate)),
    algorithm(oids.sha256),
    buildTaggedBlock(0, ...attributes),
    algorithm(oids.rsaEncryption),
    new asn1.OctetString({ valueHex: signature }),
  )
  const certificates = [certificate, issuer].map((der) => asn1.fromBER(der).result)
  const signedData = sequence(
    new asn1.Integer({ value: 1 }),
    new asn1.Set({ value: [algorithm(oids.sha256)] }),
    sequence(oid(oids.data)),
    buildTaggedBlock(0, ...certificates),
    new asn1.Set({ value: [signerInfo] }),
  )
  return new Uint8Array(sequence(oid(oids.signedData), buildTaggedBlock(0, signedData)).toBER())
}
