import type { ScanAnswer } from '../../domain/files/scans.ts'

export interface ScanRequest {
  file_id: string
  /** The address from which the scanner reads the file, for 15 minutes. */
  url: string
  mime_type: string
  size: number
  checksum_sha256: string
  /** The address for an answer that takes the scanner longer. */
  callback_url: string
}

export interface FileScanner {
  /** Null when the answer comes later, or was not understood. */
  scan: (request: ScanRequest) => Promise<ScanAnswer | null>
}
