export { findOrganization } from './queries.ts'
export {
  type OrganizationSummaryRow,
  organizationSummaryColumns,
  organizationSummaryFields,
  presentOrganizationSummary,
} from './summary.ts'
