-- Deleting an order, a payment, a purchase or a customer checks who refers to it. Without these a whole table is read.
create index refund_requests_of_purchase on refund_requests (purchase_id) where purchase_id is not null;
create index refund_requests_of_transaction on refund_requests (transaction_id);
