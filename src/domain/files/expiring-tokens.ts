import {
  idFromBytes,
  idToBytes,
  numberFromBytes,
  numberToBytes,
  openToken,
  signToken,
  type TokenSigner,
} from '../accounts/signed-tokens.ts'
import { idPrefixes } from '../ids.ts'

/** The content of a token for one file. `code` is a number from 0 to 255 whose meaning each signer defines. */
export interface FileToken {
  fileId: string
  code: number
}

export function signFileToken(
  secret: string,
  signer: TokenSigner,
  { fileId, code, endsAt }: FileToken & { endsAt: number },
): string {
  const id = idToBytes(idPrefixes.file, fileId)
  if (!id) throw new Error(`${fileId} is not the id of a file`)
  return signToken(secret, signer, [...id, code, ...numberToBytes(Math.floor(endsAt / 1000))])
}

/** The content of a token. Null: it is forged or expired. */
export function openFileToken(
  secrets: readonly string[],
  signer: TokenSigner,
  token: string,
  now: number,
): FileToken | null {
  const content = openToken(secrets, signer, token)
  const file = content && idFromBytes(idPrefixes.file, content, 0)
  const ends = file && numberFromBytes(content, file.next + 1)
  if (!ends || ends.next !== content.length || now >= ends.value * 1000) return null
  return { fileId: file.id, code: content[file.next] ?? 0 }
}
