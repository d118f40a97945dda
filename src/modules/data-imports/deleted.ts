import { AppError } from '../../domain/errors.ts'

export const dataDeleted = (detail: string): AppError => new AppError('import_data_deleted', detail)
