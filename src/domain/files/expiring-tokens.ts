import { idPrefixes } from '../ids.ts'
import {
  idFromBytes,
  idToBytes,
  numberFromBytes,
  numberToBytes,
  openToken,
  signToken,
  type TokenSigner,
} from '../accounts/signed-tokens.ts'

/** Tokens of one file that work until a second: the file's id, a byte that the purpose gives a meaning, and the time. */
export interface FileToken {
  fileId: string
  mark: number
}

export function signFileToken(
  secret: string,
  signer: TokenSigner,
  { fileId, mark, endsAt }: FileToken & { endsAt: number },
): string {
  const id = idToBytes(idPrefixes.file, fileId)
  if (!id) throw new Error(`${fileId} is no id of a file`)
  return signToken(secret, signer, [...id, mark, ...numberToBytes(Math.floor(endsAt / 1000))])
}

/** The content of a token; null for a forged or expired one. */
export function openFileToken(secret: string, signer: TokenSigner, token: string, now: number): FileToken | null {
  const content = openToken(secret, signer, token)
  const file = content && idFromBytes(idPrefixes.file, content, 0)
  const ends = file && numberFromBytes(content, file.next + 1)
  if (!ends || ends.next !== content.length || now >= ends.value * 1000) return null
  return { fileId: file.id, mark: content[file.next] ?? 0 }
}
