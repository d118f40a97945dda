import type { ScanAnswer } from '../../domain/files/scans.ts'

export interface ScanRequest {
  file_id: string
  /** Where the scanner reads the file, for 15 minutes. */
  url: string
  mime_type: string
  size: number
  checksum_sha256: string
  /** Where the scanner posts its answer, if that takes it longer. */
  callback_url: string
}

export interface FileScanner {
  /** Null where the answer comes later, or the scanner did not understand. */
  scan: (request: ScanRequest) => Promise<ScanAnswer | null>
}
