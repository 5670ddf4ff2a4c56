"""Fine-tunes a Gemma model with LoRA to write SQL for questions.

Run it under torchrun with one process for each GPU. Environment:

    MODEL     the model on Hugging Face, such as google/gemma-2b
    HF_TOKEN  a token of a user who has accepted the model's terms
    BUCKET    the Cloud Storage bucket to which the adapter is copied

Sources: documentation of Transformers (Trainer), of PEFT (LoRA) and of the
dataset b-mc2/sql-create-context (its columns question, context and answer).
"""

import os
import pathlib

import torch
from datasets import load_dataset
from google.cloud import storage
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

MODEL = os.environ["MODEL"]
OUTPUT = pathlib.Path("/tmp/adapter")


def examples(tokenizer, count=1000, longest=512):
    """Returns the tokens of questions, each with its tables and its query."""

    def tokens(row):
        text = f"{row['context']}\n-- {row['question']}\n{row['answer']}{tokenizer.eos_token}"
        return tokenizer(text, truncation=True, max_length=longest)

    data = load_dataset("b-mc2/sql-create-context", split=f"train[:{count}]")
    return data.map(tokens, remove_columns=data.column_names)


def upload(folder, name):
    """Copies a folder to the team's bucket, as the team's service account."""
    bucket = storage.Client().bucket(os.environ["BUCKET"])
    for file in sorted(folder.iterdir()):
        if file.is_file():
            bucket.blob(f"{name}/{file.name}").upload_from_filename(file)
    print(f"adapter in gs://{bucket.name}/{name}", flush=True)


def main():
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = AutoModelForCausalLM.from_pretrained(MODEL, torch_dtype=torch.bfloat16)
    lora = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    trainer = Trainer(
        model=get_peft_model(model, lora),
        train_dataset=examples(tokenizer),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        args=TrainingArguments(
            output_dir=str(OUTPUT),
            per_device_train_batch_size=1,
            gradient_accumulation_steps=2,
            num_train_epochs=1,
            bf16=True,
            logging_steps=5,
            save_strategy="no",
            report_to=[],
        ),
    )
    trainer.train()
    trainer.save_model()  # the first process writes the adapter
    if trainer.is_world_process_zero():
        upload(OUTPUT, MODEL.split("/")[-1] + "-sql")


if __name__ == "__main__":
    main()
